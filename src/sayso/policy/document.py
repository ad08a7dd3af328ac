"""A policy as it is held: what policy.toml says, checked and made ready."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.fields import (
    UnfitError,
    boolean,
    choice,
    convert,
    instance,
    many,
    number,
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
    ResolvedIntent,
    ToolReceipt,
    Trust,
    Verdict,
    resolve,
)
from sayso.policy.conditions import Reads, make_glob
from sayso.policy.decision import Listing, Mode
from sayso.policy.index import RuleIndex
from sayso.policy.principal import Principal
from sayso.policy.receipts import ReceiptKey, verdict_of, weigh
from sayso.policy.rule import Limits, Rule
from sayso.schema import Path, is_switch

ANY: Final = "*"
"""The name under which a table holds what is for all that it does not name."""

OWN_META: Final = frozenset({"progressToken", "traceparent", "tracestate", "fastmcp", "_fastmcp"})
OWN_META_PREFIXES: Final = ("io.modelcontextprotocol/", "io.sayso/", "fastmcp.", "fastmcp/")
"""Keys of `_meta` that say how a call travels or which code runs; no policy forwards them."""

MIN_RESULT_CHARACTERS: Final = 200
MAX_RESULT_CHARACTERS: Final = 10_000_000
"""Bounds of what a policy can say of the length of results."""

CHANNELS: Final = ("console", "link", "terminal", "program", "elicitation")
"""The ways to people that a policy can name."""

MAX_OPEN_QUESTIONS: Final = 50
"""How many questions of one caller may wait at once where a policy does not say."""

DEFAULT_CHANNELS: Final = frozenset(CHANNELS) - {"elicitation"}
"""What a client relays may be the client's own word, so it takes one more word to have it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a policy says of the tools at `server` whose name fits `tool`."""

    server: str
    tool: str
    fits: Callable[[str], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        convert(self, server=text, tool=text)
        object.__setattr__(self, "fits", make_glob([self.tool]))


@dataclass(frozen=True, slots=True)
class Operator(Entry):
    """The hints that an operator says these tools have."""

    hints: Hints = field(default_factory=Hints)

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        convert(self, hints=instance(Hints))


@dataclass(frozen=True, slots=True)
class FirstUse(Entry):
    """Whether the first use of these tools asks."""

    asks: bool = True

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        convert(self, asks=boolean)


@dataclass(frozen=True, slots=True)
class ResultLimit(Entry):
    """How long results of these tools may be, as `characters` of JSON.

    Raises `UsageError` for a number that is out of bounds.
    """

    characters: int

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        convert(self, characters=whole(MIN_RESULT_CHARACTERS, MAX_RESULT_CHARACTERS))


@dataclass(frozen=True, slots=True)
class DryRun(Entry):
    """The boolean `parameter` that makes a call of one of these tools a dry run."""

    parameter: str

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        convert(self, parameter=text)


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

    `receipt_keys` are those whose receipts count. `operator`, `first_use`, `max_result_characters`
    and `dry_run` are in the order in which they count. `channels` are those over which people may
    answer, and `people` those who may do so by a link, with their roles. `open_per_caller` is how
    many questions of one subject may wait at once. `hidden` are the places in arguments that the
    log masks. `window` is how many seconds of history a decision looks back: at least what the
    rules need. `asks` is false where somebody else asks people about the calls that come, as a
    gateway in front of a server does; no file says that.
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
    hidden: tuple[Path, ...] = ()
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
        window = max([self.window, *(rule.window for rule in self.rules)])
        object.__setattr__(self, "window", window)
        limits = [self.limits, *(rule.limits for rule in self.rules if rule.limits is not None)]
        counts_calls = any(limit.calls is not None or limit.by_level for limit in limits)
        object.__setattr__(self, "counts_calls", counts_calls)
        counts_targets = any(limit.targets is not None for limit in limits)
        object.__setattr__(self, "counts_targets", counts_targets)
        object.__setattr__(self, "index", RuleIndex(self.rules))
        hiding = [rule for rule in self.rules if rule.is_hiding]
        object.__setattr__(self, "hiding", RuleIndex(hiding))
        by_call = any(
            condition.reads is Reads.CALL
            for rule in hiding
            for condition in (*rule.when, *rule.unless)
        )
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
        self, server: str, tool: str, evidence: Evidence, *, receipts: Sequence[ToolReceipt] = ()
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
        return principal.scopes.union(*(self.roles.get(role, none) for role in principal.roles))
