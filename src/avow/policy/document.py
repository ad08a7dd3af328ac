"""A policy as it is held: what policy.toml says, checked and made ready."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from avow.intent import (
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
from avow.policy.decision import Effect, Listing, Mode, Require, Reviewers
from avow.policy.principal import Principal
from avow.policy.receipts import ReceiptKey, verdict_of, weigh
from avow.policy.situation import Situation

if TYPE_CHECKING:
    from avow.policy.conditions import Condition
    from avow.schema.paths import Path

ANY: Final = "*"
"""The name under which a table holds what is for all that it does not name."""

CHANNELS: Final = ("console", "link", "terminal", "program", "elicitation")
"""The ways to people that a policy can name."""

DEFAULT_CHANNELS: Final = frozenset(CHANNELS) - {"elicitation"}
"""What a client relays may be the client's own word, so it takes one more word to have it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is too much. `calls` is per minute, `by_level` the same for each level."""

    calls: int | None = None
    by_level: Mapping[Level, int] = field(default_factory=dict[Level, int])
    targets: int | None = None


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
    when: "tuple[Condition, ...]" = ()
    unless: "tuple[Condition, ...]" = ()
    require: Require | None = None
    reviewers: Reviewers | None = None
    expires: float | None = None
    grant: Span | None = None
    limits: Limits | None = None
    matches: Callable[[Situation], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "matches", _matcher(self))

    @property
    def is_loosening(self) -> bool:
        """Whether the rule permits more; then what cannot be told counts against it."""
        return self.effect is Effect.ALLOW


def _matcher(rule: Rule) -> Callable[[Situation], bool]:
    when = tuple(one.test for one in rule.when)
    unless = tuple(one.test for one in rule.unless)
    careful = not rule.is_loosening

    def matches(situation: Situation) -> bool:
        for test in when:
            answer = test(situation)
            if not answer and (answer is not None or not careful):
                return False
        if not unless:
            return True
        for test in unless:
            answer = test(situation)
            if not ((not careful) if answer is None else answer):
                return True
        return False

    return matches


@dataclass(frozen=True, slots=True)
class Operator:
    """What an operator says of tools: hints of those at `server` whose name fits `tool`."""

    server: str
    tool: str
    fits: Callable[[str], bool] = field(repr=False, compare=False)
    hints: Hints = field(default_factory=Hints)


@dataclass(frozen=True, slots=True)
class FirstUse:
    """Whether the first use of tools asks: of those at `server` whose name fits `tool`."""

    server: str
    tool: str
    fits: Callable[[str], bool] = field(repr=False, compare=False)
    asks: bool = True


def _is_none(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Policy:
    """What may run, what asks a person, and what may not; `Policy()` is the mode `guarded`.

    `receipt_keys` are those whose receipts count.
    `operator` and `first_use` are in the order in which they count. `channels` are those over
    which people may answer, and `people` those who may do so by a link, with their roles. `hidden`
    are the places in arguments that the log masks. `window` is how many seconds of history the
    rules look back. `asks` is false where somebody else asks people about the calls that come, as a
    gateway in front of a server does; no file says that. `tools` is what the gateway lists, and
    `pin` the names that it lists in any case; `is_pinned` tells of a qualified name.
    """

    mode: Mode = Mode.GUARDED
    threshold: float = THRESHOLD
    trust: Mapping[str, Trust] = field(default_factory=dict[str, Trust])
    receipt_keys: tuple[ReceiptKey, ...] = ()
    operator: tuple[Operator, ...] = ()
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    first_use: tuple[FirstUse, ...] = ()
    off_servers: frozenset[str] = frozenset()
    off_subjects: frozenset[str] = frozenset()
    limits: Limits = field(default_factory=Limits)
    rules: tuple[Rule, ...] = ()
    channels: frozenset[str] = DEFAULT_CHANNELS
    people: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    hidden: "tuple[Path, ...]" = ()
    window: float = 0.0
    where: str = "policy"
    asks: bool = True
    tools: Listing = Listing.ALL
    pin: tuple[str, ...] = ()
    is_pinned: Callable[[str], bool] = field(default=_is_none, repr=False, compare=False)

    @property
    def counts_calls(self) -> bool:
        """Whether some limit is on how often there are calls."""
        return (
            self.limits.calls is not None
            or bool(self.limits.by_level)
            or any(one.limits is not None and one.limits.calls is not None for one in self.rules)
        )

    @property
    def counts_targets(self) -> bool:
        """Whether some limit is on how much one call may change."""
        return self.limits.targets is not None or any(
            one.limits is not None and one.limits.targets is not None for one in self.rules
        )

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
                return entry.asks
        return False

    def scopes_of(self, principal: Principal) -> frozenset[str] | None:
        """The scopes that a caller holds, itself or by its roles; `None` where none are needed."""
        if principal.scopes is None:
            return None
        none: frozenset[str] = frozenset()
        return principal.scopes.union(*(self.roles.get(one, none) for one in principal.roles))
