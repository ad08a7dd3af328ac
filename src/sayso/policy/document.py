"""A policy in memory: the checked content of policy.toml."""

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
"""The key of a table's default entry."""

OWN_META: Final = frozenset({"progressToken", "traceparent", "tracestate", "fastmcp", "_fastmcp"})
OWN_META_PREFIXES: Final = ("io.modelcontextprotocol/", "io.sayso/", "fastmcp.", "fastmcp/")
"""Keys of `_meta`, and beginnings of keys, for transport and frameworks: never forwarded."""

MIN_RESULT_CHARACTERS: Final = 200
MAX_RESULT_CHARACTERS: Final = 10_000_000
"""Bounds of `max_result_characters`."""

CHANNELS: Final = ("console", "link", "terminal", "program", "elicitation")
"""The channels that a policy can name."""

MAX_OPEN_QUESTIONS: Final = 50
"""The default limit of pending questions per caller."""

DEFAULT_CHANNELS: Final = frozenset(CHANNELS) - {"elicitation"}
"""All channels except elicitation, because a client may answer that itself."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A setting for the tools of `server` whose names match `tool`."""

    server: str
    tool: str
    fits: Callable[[str], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        convert(self, server=text, tool=text)
        object.__setattr__(self, "fits", make_glob([self.tool]))


@dataclass(frozen=True, slots=True)
class Operator(Entry):
    """The hints that the operator sets for these tools."""

    hints: Hints = field(default_factory=Hints)

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        convert(self, hints=instance(Hints))


@dataclass(frozen=True, slots=True)
class FirstUse(Entry):
    """A setting for the first use of these tools: whether it asks."""

    asks: bool = True

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        convert(self, asks=boolean)


@dataclass(frozen=True, slots=True)
class ResultLimit(Entry):
    """The length limit of results, in characters of JSON. Raises `UsageError` out of bounds."""

    characters: int

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        convert(self, characters=whole(MIN_RESULT_CHARACTERS, MAX_RESULT_CHARACTERS))


@dataclass(frozen=True, slots=True)
class DryRun(Entry):
    """The boolean `parameter` that turns a call of one of these tools into a dry run."""

    parameter: str

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        convert(self, parameter=text)


def read_forwarded(value: Any) -> frozenset[str]:
    """Read the keys of a call's `_meta` that are forwarded to servers. Raises `UnfitError`."""
    names = texts(value)
    for name in sorted(names):
        if name in OWN_META or name.startswith(OWN_META_PREFIXES):
            message = (
                f"cannot contain {name!r}: it is reserved for the protocol, sayso or a framework"
            )
            raise UnfitError(message)
    return names


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules for calls: which run, which ask a person, which are denied; `guarded` by default.

    `operator`, `first_use`, `max_result_characters` and `dry_run` are sorted, most specific first.
    `people` has those who may answer by a link, with their roles. `open_per_caller` limits the
    pending questions of one subject. The log masks the argument paths `hidden`. `window` is the
    history that decisions need, in seconds. `asks` is false if another gateway in front asks
    people; no file sets it. The keys `forward_meta` of a call's `_meta` are forwarded to servers.
    These keys are bound to the approval, shown, recorded, and available to rules. Tools that match
    `pin` (qualified names) are always listed; `is_pinned` checks a name.
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
    """Whether any limit is on the rate of calls."""
    counts_targets: bool = field(init=False, repr=False, compare=False)
    """Whether any limit is on the number of targets of one call."""
    index: RuleIndex = field(init=False, repr=False, compare=False)
    """The rules, indexed by tool and caller."""
    hiding: RuleIndex = field(init=False, repr=False, compare=False)
    """The rules that hide tools."""
    hides_by_call: bool = field(init=False, repr=False, compare=False)
    """Whether visibility may depend on more than the caller and the tool."""

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
        return self.trust.get(server) or self.trust.get(ANY, Trust.CAUTIOUS)

    def operator_hints(self, server: str, tool: str) -> Hints:
        """Return the operator's hints for one tool. For each hint the most specific entry counts.

        A named server comes before `*`, then a named tool before globs, then the file's order.
        """
        hints: dict[str, bool] = {}
        for entry in self.operator:
            if entry.server in (server, ANY) and entry.fits(tool):
                for name in HINT_NAMES:
                    value = entry.hints[name]
                    if value is not None:
                        hints.setdefault(name, value)
        return Hints(**hints)

    def verdicts(self, receipts: Sequence[ToolReceipt]) -> dict[HintName, Verdict]:
        if not receipts or not self.receipt_keys:
            return {}
        verdicts: dict[HintName, Verdict] = {}
        for name in HINT_NAMES:
            verdict = verdict_of([*weigh(self.receipt_keys, receipts, name)])
            if verdict is not None:
                verdicts[name] = verdict
        return verdicts

    def resolve(
        self, server: str, tool: str, evidence: Evidence, *, receipts: Sequence[ToolReceipt] = ()
    ) -> ResolvedIntent:
        """Resolve a tool's hints, with the operator's hints and the trusted verdicts."""
        hints = self.operator_hints(server, tool)
        verdicts = self.verdicts(receipts) if receipts else evidence.verdicts
        evidence_here = Evidence(evidence.declared, evidence.inferred, verdicts, hints)
        return resolve(evidence_here, self.trust_of(server), threshold=self.threshold)

    def asks_first(self, server: str, tool: str) -> bool:
        """Return whether the first use of a tool asks; the most specific entry counts."""
        for entry in self.first_use:
            if entry.server in (server, ANY) and entry.fits(tool):
                return entry.asks is not False
        return False

    def result_characters(self, server: str, tool: str) -> int | None:
        """Return the length limit of a tool's results, or `None` if there is no limit."""
        for entry in self.max_result_characters:
            if entry.server in (server, ANY) and entry.fits(tool):
                return entry.characters
        return None

    def dry_run_of(self, server: str, tool: str, schema: object) -> str | None:
        """Return the parameter that turns a call of a tool into a dry run, if the policy has one.

        An entry with a glob applies only if the arguments' `schema` has the parameter.
        """
        for entry in self.dry_run:
            is_about = entry.server in (server, ANY) and entry.fits(tool)
            if is_about and (entry.tool == tool or is_switch(schema, entry.parameter)):
                return entry.parameter
        return None

    def scopes_of(self, principal: Principal) -> frozenset[str] | None:
        """Return the scopes of a caller and its roles, or `None` if the caller needs no scopes."""
        if principal.scopes is None:
            return None
        none: frozenset[str] = frozenset()
        return principal.scopes.union(*(self.roles.get(role, none) for role in principal.roles))
