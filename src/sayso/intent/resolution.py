"""Resolution of a tool's hints from all evidence.

The first of these that applies decides:
1. The operator's value, then a refuting receipt, then a stricter declaration.
2. For the looser value: a supporting receipt, then a declaration that the trust lets count.
3. The inference: stricter from `DOUBT` on; looser from `THRESHOLD` on, if nothing is declared.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Literal

from sayso.fields import boolean, convert, number
from sayso.intent.hints import DEFAULTS, HINT_NAMES, LOOSER, HintName, Hints, Level, level_of


class Source(StrEnum):
    """The source of a hint's value, weakest first."""

    DEFAULT = "default"
    INFERRED = "inferred"
    DECLARED = "declared"
    VERIFIED = "verified"
    OPERATOR = "operator"


class Trust(StrEnum):
    """An operator's trust in a server's declarations.

    `cautious` guards against carelessness, not malice: names and texts come from the server too.
    """

    UNTRUSTED = "untrusted"
    CAUTIOUS = "cautious"
    TRUSTED = "trusted"


Verdict = Literal["refuted", "supported", "not_exercised"]

THRESHOLD: Final = 0.98
"""The confidence an inference needs to loosen an undeclared hint."""

DOUBT: Final = 0.9
"""The confidence an inference needs to contradict a looser declaration. Lower than `THRESHOLD`:
a needless question costs a moment, a missed one costs data."""


@dataclass(frozen=True, slots=True)
class Guess:
    """One inferred hint, with its confidence (0 to 1) and reasons."""

    value: bool
    confidence: float
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        convert(self, value=boolean, confidence=number(0, 1))


@dataclass(frozen=True, slots=True)
class Resolved:
    """The resolved value of one hint, with its source."""

    value: bool
    source: Source


@dataclass(frozen=True, slots=True)
class Evidence:
    """All evidence about one tool's hints.

    `verdicts` are about the looser value of each hint. The caller must check the signature, the
    fingerprint and the number of calls of a receipt before.
    """

    declared: Hints = field(default_factory=Hints)
    inferred: Mapping[HintName, Guess] = field(default_factory=dict[HintName, Guess])
    verdicts: Mapping[HintName, Verdict] = field(default_factory=dict[HintName, Verdict])
    operator: Hints = field(default_factory=Hints)


@dataclass(frozen=True, slots=True)
class ResolvedIntent:
    """The four resolved hints with their sources, and the level."""

    read_only: Resolved
    destructive: Resolved
    idempotent: Resolved
    open_world: Resolved
    level: Level = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        level = level_of(read_only=self.read_only.value, destructive=self.destructive.value)
        object.__setattr__(self, "level", level)

    def __getitem__(self, name: HintName) -> Resolved:
        """Return one hint by name."""
        hint: Resolved = getattr(self, name)
        return hint

    def items(self) -> list[tuple[HintName, Resolved]]:
        return [(name, self[name]) for name in HINT_NAMES]

    @property
    def hints(self) -> Hints:
        return Hints(**self.hints_dict)

    @property
    def hints_dict(self) -> dict[str, bool]:
        return {name: self[name].value for name in HINT_NAMES}

    def to_dict(self) -> dict[str, Any]:
        """Return `{"read_only": {"value": …, "source": …}, …}`."""
        return {
            name: {"value": hint.value, "source": str(hint.source)} for name, hint in self.items()
        }


def resolve(
    evidence: Evidence, trust: Trust = Trust.CAUTIOUS, *, threshold: float = THRESHOLD
) -> ResolvedIntent:
    """Resolve the hints of a tool from all evidence and the trust in its server.

    An invalid trust level counts as `untrusted`.

    >>> resolve(Evidence(declared=Hints(read_only=True))).level
    <Level.READ: 'read'>
    >>> resolve(Evidence(declared=Hints(read_only=True)), Trust.UNTRUSTED).level
    <Level.DESTRUCTIVE: 'destructive'>
    """
    if not isinstance(trust, Trust):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may pass anything
        trust = Trust.UNTRUSTED
    evidence = _with_writes_implied(evidence, trust)
    evidence = _without_contradicted_claim(evidence, trust)
    chosen = {name: _resolve_one(name, evidence, trust, threshold) for name in HINT_NAMES}
    if (read_only := chosen["read_only"]).value:
        # The write hints have no meaning on a read-only tool.
        for name in ("destructive", "idempotent"):
            chosen[name] = Resolved(value=LOOSER[name], source=read_only.source)
    return ResolvedIntent(**chosen)


def stricter(first: ResolvedIntent, second: ResolvedIntent) -> ResolvedIntent:
    """Return the stricter value of each hint; where both agree, one of the two sources."""
    chosen = dict(second.items())
    for name, hint in first.items():
        if chosen[name].value is LOOSER[name]:
            chosen[name] = hint
    return ResolvedIntent(**chosen)


def _with_writes_implied(evidence: Evidence, trust: Trust) -> Evidence:
    """Treat any claim that a tool destroys as a claim that it writes.

    For a trusted server the specification applies: read-only overrides the other hints.
    """
    operator = evidence.operator
    declared = evidence.declared
    verdicts = dict(evidence.verdicts)
    inferred = dict(evidence.inferred)
    if operator.destructive:
        operator = replace(operator, read_only=False)
    if declared.destructive and not (declared.read_only and trust is Trust.TRUSTED):
        declared = replace(declared, read_only=False)
    if verdicts.get("destructive") == "refuted":
        verdicts["read_only"] = "refuted"
    destroys = inferred.get("destructive")
    if destroys is not None and destroys.value and destroys.confidence >= DOUBT:
        inferred["read_only"] = replace(destroys, value=False)
    return Evidence(declared, inferred, verdicts, operator)


def _without_contradicted_claim(evidence: Evidence, trust: Trust) -> Evidence:
    """Drop a declared `destructive: false` if its `read_only: true` is contradicted.

    The inference contradicts the read. Then the server may be wrong about `destructive` too, unless
    the inference agrees with that. A trusted server is always believed.
    """
    if trust is Trust.TRUSTED:
        return evidence
    declared = evidence.declared
    inferred = evidence.inferred
    reads = inferred.get("read_only")
    destroys = inferred.get("destructive")
    if not declared.read_only or declared.destructive is not False or reads is None:
        return evidence
    is_doubted = not reads.value and reads.confidence >= DOUBT
    if not is_doubted or (destroys is not None and not destroys.value):
        return evidence
    return replace(evidence, declared=replace(declared, destructive=None))


def _resolve_one(name: HintName, evidence: Evidence, trust: Trust, threshold: float) -> Resolved:
    operator = evidence.operator[name]
    if operator is not None:
        return Resolved(operator, Source.OPERATOR)
    looser = LOOSER[name]
    stricter = DEFAULTS[name]
    guess = evidence.inferred.get(name)
    verdict = evidence.verdicts.get(name)
    declared = evidence.declared[name]
    if verdict == "refuted":
        return Resolved(stricter, Source.VERIFIED)
    if declared is stricter:
        return Resolved(stricter, Source.DECLARED)
    if verdict == "supported":
        return Resolved(looser, Source.VERIFIED)
    # Only a looser declaration, if any, and an inference remain.
    is_doubted = guess is not None and guess.value is stricter and guess.confidence >= DOUBT
    if declared is looser and (
        trust is Trust.TRUSTED or (trust is Trust.CAUTIOUS and not is_doubted)
    ):
        return Resolved(looser, Source.DECLARED)
    if is_doubted:
        return Resolved(stricter, Source.INFERRED)
    is_sure = guess is not None and guess.value is looser and guess.confidence >= threshold
    if declared is None and is_sure and trust is not Trust.UNTRUSTED:
        return Resolved(looser, Source.INFERRED)
    return Resolved(stricter, Source.DEFAULT)
