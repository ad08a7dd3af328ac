"""A policy as it is held: what policy.toml says, checked and made ready."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sayso.fields import (
    UnfitError,
    boolean,
    choice,
    convert,
    instance,
    many,
    number,
    optional,
    subset,
    table,
    text,
    texts,
    whole,
)
from sayso.intent import (
    HINT_NAMES,
    THRESHOLD,
    Evidence,
    HintName,
    Hints,
    Level,
    ResolvedIntent,
    Span,
    ToolReceipt,
    Trust,
    Verdict,
    resolve,
)
from sayso.policy.conditions import Condition, Reads, make_glob
from sayso.policy.decision import Effect, Listing, Mode, Require, Reviewers, read_reviewers
from sayso.policy.index import RuleIndex
from sayso.policy.principal import Principal
from sayso.policy.receipts import ReceiptKey, verdict_of, weigh
from sayso.policy.situation import Situation
from sayso.schema import is_switch

if TYPE_CHECKING:
    from sayso.schema import Path

ANY: Final = "*"
"""The name under which a table holds what is for all that it does not name."""

OWN_META: Final = frozenset({"progressToken", "traceparent", "tracestate", "fastmcp", "_fastmcp"})
OWN_META_PREFIXES: Final = ("io.modelcontextprotocol/", "io.sayso/", "fastmcp.", "fastmcp/")
"""Keys of `_meta` that say how a call travels or which code runs; no policy forwards them."""

MIN_RESULT_CHARACTERS: Final = 200
MAX_RESULT_CHARACTERS: Final = 10_000_000
"""Bounds of what a policy can say of the length of results."""

LIMIT_WINDOW_SECONDS: Final = 60.0

CHANNELS: Final = ("console", "link", "terminal", "program", "elicitation")
"""The ways to people that a policy can name."""

MAX_OPEN_QUESTIONS: Final = 50
"""How many questions of one caller may wait at once where a policy does not say."""

DEFAULT_CHANNELS: Final = frozenset(CHANNELS) - {"elicitation"}
"""What a client relays may be the client's own word, so it takes one more word to have it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is too much. `calls` is per minute, `by_level` the same for each level."""

    calls: int | None = None
    by_level: Mapping[Level, int] = field(default_factory=dict[Level, int])
    targets: int | None = None

    def __post_init__(self) -> None:
        by_level = table(choice(Level), whole(1), "levels to whole numbers")
        convert(self, calls=optional(whole(1)), by_level=by_level, targets=optional(whole(1)))


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, with the line on which it begins.

    All of `when` must hold; where all of `unless` holds as well (and there is any), the rule does
    not count. `matches` is both, made ready.
    """

    name: str
    effect: Effect
    reason: str
    line: int
    when: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()
    require: Require | None = None
    reviewers: Reviewers | None = None
    expires: float | None = None
    grant: Span | None = None
    limits: Limits | None = None
    matches: Callable[[Situation], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        conditions = many(instance(Condition), "conditions")
        convert(
            self,
            name=text,
            effect=choice(Effect),
            reason=text,
            line=whole(0),
            when=conditions,
            unless=conditions,
            require=optional(choice(Require)),
            reviewers=optional(read_reviewers),
            expires=optional(number(1)),
            grant=optional(choice(Span)),
            limits=optional(instance(Limits)),
        )
        object.__setattr__(self, "matches", _matcher(self))

    @property
    def is_loosening(self) -> bool:
        """Whether the rule permits more; then what cannot be told counts against it."""
        return self.effect is Effect.ALLOW

    @property
    def is_hiding(self) -> bool:
        """Whether the rule hides its tools; one with an unknown effect does."""
        known = (Effect.ALLOW, Effect.CONFIRM, Effect.DENY)
        return all(self.effect is not effect for effect in known)

    @property
    def window(self) -> float:
        """How many seconds of history its conditions and limits look back."""
        conditions = (*self.when, *self.unless)
        looks_back = max((condition.window for condition in conditions), default=0.0)
        counts_calls = self.limits is not None and self.limits.calls is not None
        return max(looks_back, LIMIT_WINDOW_SECONDS) if counts_calls else looks_back


def _matcher(rule: Rule) -> Callable[[Situation], bool]:
    """Return the rule's test. An answer that is neither `True` nor `False` is unsure."""
    when = tuple(condition.test for condition in rule.when)
    unless = tuple(condition.test for condition in rule.unless)
    if_unsure = not rule.is_loosening

    def matches(situation: Situation) -> bool:
        for test in when:
            answer = test(situation)
            if answer is not True and (answer is False or not if_unsure):
                return False
        if not unless:
            return True
        for test in unless:
            answer = test(situation)
            if answer is not True and (answer is False or if_unsure):
                return True
        return False

    return matches


@dataclass(frozen=True, slots=True)
class Operator:
    """What an operator says of tools: hints of those at `server` whose name fits `tool`."""

    server: str
    tool: str
    hints: Hints = field(default_factory=Hints)
    fits: Callable[[str], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        convert(self, server=text, tool=text, hints=instance(Hints))
        object.__setattr__(self, "fits", make_glob([self.tool]))


@dataclass(frozen=True, slots=True)
class FirstUse:
    """Whether the first use of tools asks: of those at `server` whose name fits `tool`."""

    server: str
    tool: str
    asks: bool = True
    fits: Callable[[str], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        convert(self, server=text, tool=text, asks=boolean)
        object.__setattr__(self, "fits", make_glob([self.tool]))


@dataclass(frozen=True, slots=True)
class ResultLimit:
    """How long results may be: `characters` of JSON for tools at `server` whose name fits `tool`.

    Raises `UnfitError` for a number that is out of bounds.
    """

    server: str
    tool: str
    characters: int
    fits: Callable[[str], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        characters = whole(MIN_RESULT_CHARACTERS, MAX_RESULT_CHARACTERS)
        convert(self, server=text, tool=text, characters=characters)
        object.__setattr__(self, "fits", make_glob([self.tool]))


@dataclass(frozen=True, slots=True)
class DryRun:
    """The boolean `parameter` that makes a call a dry run, of tools at `server` that fit `tool`."""

    server: str
    tool: str
    parameter: str
    fits: Callable[[str], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        convert(self, server=text, tool=text, parameter=text)
        object.__setattr__(self, "fits", make_glob([self.tool]))


def read_forwarded(value: Any) -> frozenset[str]:
    """Read the keys of a call's `_meta` that go to servers. Raises `UnfitError`."""
    names = texts(value)
    for name in sorted(names):
        if name in OWN_META or name.startswith(OWN_META_PREFIXES):
            message = f"cannot hold {name!r}, which the protocol, sayso or a framework reads itself"
            raise UnfitError(message)
    return names


@dataclass(frozen=True, slots=True)
class Policy:
    """What may run, what asks a person, and what may not; `Policy()` is the mode `guarded`.

    `receipt_keys` are those whose receipts count.
    `operator`, `first_use`, `max_result_characters` and `dry_run` are in the order in which they
    count.
    `channels` are those over which people may answer, and `people` those who may do so by a link,
    with their roles.
    `open_per_caller` is how many questions of one subject may wait at once. `hidden`
    are the places in arguments that the log masks. `window` is how many seconds of history a
    decision looks back: at least what the rules need. `asks` is false where somebody else asks
    people about the calls that come, as a gateway in front of a server does; no file says that.
    `forward_meta` names the keys of a call's `_meta` that go to servers: they are bound to the
    approval, shown, recorded and open to rules. `tools` is what the gateway lists, and
    `pin` the names that it lists in any case; `is_pinned` tells of a qualified name.
    """

    mode: Mode = Mode.GUARDED
    threshold: float = THRESHOLD
    trust: Mapping[str, Trust] = field(default_factory=dict[str, Trust])
    receipt_keys: tuple[ReceiptKey, ...] = ()
    operator: tuple[Operator, ...] = ()
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    first_use: tuple[FirstUse, ...] = ()
    max_result_characters: tuple[ResultLimit, ...] = ()
    dry_run: tuple[DryRun, ...] = ()
    off_servers: frozenset[str] = frozenset()
    off_subjects: frozenset[str] = frozenset()
    limits: Limits = field(default_factory=Limits)
    rules: tuple[Rule, ...] = ()
    channels: frozenset[str] = DEFAULT_CHANNELS
    people: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    open_per_caller: int = MAX_OPEN_QUESTIONS
    hidden: "tuple[Path, ...]" = ()
    window: float = 0.0
    where: str = "policy"
    asks: bool = True
    tools: Listing = Listing.ALL
    pin: tuple[str, ...] = ()
    forward_meta: frozenset[str] = frozenset()
    is_pinned: Callable[[str], bool] = field(init=False, repr=False, compare=False)
    counts_calls: bool = field(init=False, repr=False, compare=False)
    """Whether some limit is on how often there are calls."""
    counts_targets: bool = field(init=False, repr=False, compare=False)
    """Whether some limit is on how much one call may change."""
    index: RuleIndex = field(init=False, repr=False, compare=False)
    """Finds the rules that may be about a call."""
    hiding: RuleIndex = field(init=False, repr=False, compare=False)
    """Finds those of them that hide tools."""
    hides_by_call: bool = field(init=False, repr=False, compare=False)
    """Whether what a caller sees may depend on more than the caller and the tools."""

    def __post_init__(self) -> None:
        names = table(text, texts, "names to sets of texts")
        convert(
            self,
            mode=choice(Mode),
            threshold=number(0.5, 1),
            trust=table(text, choice(Trust), "servers to trust levels"),
            receipt_keys=many(instance(ReceiptKey), "receipt keys"),
            operator=many(instance(Operator, article="an"), "Operator entries"),
            roles=names,
            first_use=many(instance(FirstUse), "FirstUse entries"),
            max_result_characters=many(instance(ResultLimit), "ResultLimit entries"),
            dry_run=many(instance(DryRun), "DryRun entries"),
            off_servers=texts,
            off_subjects=texts,
            limits=instance(Limits),
            rules=many(instance(Rule), "rules"),
            channels=subset(*CHANNELS),
            people=names,
            open_per_caller=whole(1),
            hidden=many(instance(tuple), "paths"),
            window=number(0),
            where=text,
            asks=boolean,
            tools=choice(Listing),
            pin=many(text, "texts"),
            forward_meta=read_forwarded,
        )
        object.__setattr__(self, "is_pinned", make_glob(self.pin))
        window = max((rule.window for rule in self.rules), default=0.0)
        object.__setattr__(self, "window", max(self.window, window))
        limits = [self.limits, *(rule.limits for rule in self.rules if rule.limits is not None)]
        counts_calls = any(one.calls is not None or one.by_level for one in limits)
        object.__setattr__(self, "counts_calls", counts_calls)
        counts_targets = any(one.targets is not None for one in limits)
        object.__setattr__(self, "counts_targets", counts_targets)
        object.__setattr__(self, "index", RuleIndex(self.rules))
        hiding = [rule for rule in self.rules if rule.is_hiding]
        object.__setattr__(self, "hiding", RuleIndex(hiding))
        conditions = (one for rule in hiding for one in (*rule.when, *rule.unless))
        by_call = any(one.reads is Reads.CALL for one in conditions)
        object.__setattr__(self, "hides_by_call", by_call)

    def trust_of(self, server: str) -> Trust:
        """How far the word of `server` counts."""
        return self.trust.get(server) or self.trust.get(ANY, Trust.CAUTIOUS)

    def operator_hints(self, server: str, tool: str) -> Hints:
        """What the operator says of one tool; for each hint the entry nearest to it counts.

        That is the server by its name before `*`, then the tool by its name before globs, then
        the order of the file.
        """
        said: dict[str, bool] = {}
        for entry in self.operator:
            if entry.server in (server, ANY) and entry.fits(tool):
                for name in HINT_NAMES:
                    value = entry.hints[name]
                    if value is not None:
                        said.setdefault(name, value)
        return Hints(**said)

    def verdicts(self, receipts: Sequence[ToolReceipt]) -> dict[HintName, Verdict]:
        """What counts of receipts about one tool: only that which a trusted key has signed."""
        if not receipts or not self.receipt_keys:
            return {}
        found: dict[HintName, Verdict] = {}
        for name in HINT_NAMES:
            verdict = verdict_of([*weigh(self.receipt_keys, receipts, name)])
            if verdict is not None:
                found[name] = verdict
        return found

    def resolve(
        self,
        server: str,
        tool: str,
        evidence: Evidence,
        *,
        receipts: Sequence[ToolReceipt] = (),
    ) -> ResolvedIntent:
        """The hints that count for a tool under this policy.

        It adds the operator's word, and of `receipts`, which are about the tool as it is and what
        runs, those that count.
        """
        hints = self.operator_hints(server, tool)
        verdicts = self.verdicts(receipts) if receipts else evidence.verdicts
        known = Evidence(evidence.declared, evidence.inferred, verdicts, hints)
        return resolve(known, self.trust_of(server), threshold=self.threshold)

    def asks_first(self, server: str, tool: str) -> bool:
        """Whether the first use of a tool asks; the entry nearest to it counts."""
        for entry in self.first_use:
            if entry.server in (server, ANY) and entry.fits(tool):
                return entry.asks is not False
        return False

    def result_characters(self, server: str, tool: str) -> int | None:
        """Return how long a tool's results may be; `None` where the policy does not say."""
        for entry in self.max_result_characters:
            if entry.server in (server, ANY) and entry.fits(tool):
                return entry.characters
        return None

    def dry_run_of(self, server: str, tool: str, schema: object) -> str | None:
        """Return the parameter that makes a call of a tool a dry run, if the policy names one.

        `schema` is that of its arguments. An entry for many tools is about those that have the
        parameter; one for this tool counts in any case.
        """
        for entry in self.dry_run:
            is_about = entry.server in (server, ANY) and entry.fits(tool)
            if is_about and (entry.tool == tool or is_switch(schema, entry.parameter)):
                return entry.parameter
        return None

    def scopes_of(self, principal: Principal) -> frozenset[str] | None:
        """The scopes that a caller holds, itself or by its roles; `None` where none are needed."""
        if principal.scopes is None:
            return None
        none: frozenset[str] = frozenset()
        return principal.scopes.union(*(self.roles.get(one, none) for one in principal.roles))
