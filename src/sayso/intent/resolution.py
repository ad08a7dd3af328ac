"""Whose word counts for each hint, and why.

1. The operator's word is final, either way.
2. Otherwise the stricter value counts from anyone: a receipt that refutes, a declaration, an
   inference that is sure enough.
3. A looser value counts when a receipt supports it, or as far as the server is trusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Literal

from sayso.fields import boolean, convert, number
from sayso.intent.hints import DEFAULTS, HINT_NAMES, LOOSER, HintName, Hints, Level, level_of


class Source(StrEnum):
    """Who said so, weakest first."""

    DEFAULT = "default"
    INFERRED = "inferred"
    DECLARED = "declared"
    VERIFIED = "verified"
    OPERATOR = "operator"


class Trust(StrEnum):
    """How far an operator takes a server's word.

    `cautious` guards against carelessness, not against malice: names and texts are the
    server's too.
    """

    UNTRUSTED = "untrusted"
    CAUTIOUS = "cautious"
    TRUSTED = "trusted"


Verdict = Literal["refuted", "supported", "not_exercised"]

THRESHOLD: Final = 0.98
"""How sure an inference must be to loosen a hint that nobody declared."""

DOUBT: Final = 0.9
"""How sure an inference must be to speak against a looser declaration. Lower than `THRESHOLD`:
a needless question costs a moment, a missed one costs data."""


@dataclass(frozen=True, slots=True)
class Guess:
    """One inferred hint: its value, how sure (0 to 1), and the reasons in words."""

    value: bool
    confidence: float
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        convert(self, value=boolean, confidence=number(0, 1))


@dataclass(frozen=True, slots=True)
class Resolved:
    """The value of one hint that counts, and who said so."""

    value: bool
    source: Source


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of one tool's hints, from whomever.

    `verdicts` are about the looser value of each hint, and have been vetted by the caller:
    signature, fingerprint, number of calls.
    """

    declared: Hints = field(default_factory=Hints)
    inferred: Mapping[HintName, Guess] = field(default_factory=dict[HintName, Guess])
    verdicts: Mapping[HintName, Verdict] = field(default_factory=dict[HintName, Verdict])
    operator: Hints = field(default_factory=Hints)


@dataclass(frozen=True, slots=True)
class ResolvedIntent:
    """Four booleans, each with its source; and the level they make."""

    read_only: Resolved
    destructive: Resolved
    idempotent: Resolved
    open_world: Resolved
    level: Level = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        level = level_of(read_only=self.read_only.value, destructive=self.destructive.value)
        object.__setattr__(self, "level", level)

    def __getitem__(self, name: HintName) -> Resolved:
        """One hint by its name."""
        hint: Resolved = getattr(self, name)
        return hint

    def items(self) -> list[tuple[HintName, Resolved]]:
        """The four hints by name."""
        return [(name, self[name]) for name in HINT_NAMES]

    @property
    def hints(self) -> Hints:
        """The four values without their sources."""
        return Hints(**self.hints_dict)

    @property
    def hints_dict(self) -> dict[str, bool]:
        """The four values by name."""
        return {name: self[name].value for name in HINT_NAMES}

    def to_dict(self) -> dict[str, Any]:
        """`{"read_only": {"value": …, "source": …}, …}`."""
        return {
            name: {"value": hint.value, "source": str(hint.source)} for name, hint in self.items()
        }


def resolve(
    evidence: Evidence, trust: Trust = Trust.CAUTIOUS, *, threshold: float = THRESHOLD
) -> ResolvedIntent:
    """The hints that count for a tool, given all the evidence and the server's trust.

    A trust level that is not one counts as `untrusted`.

    >>> resolve(Evidence(declared=Hints(read_only=True))).level
    <Level.READ: 'read'>
    >>> resolve(Evidence(declared=Hints(read_only=True)), Trust.UNTRUSTED).level
    <Level.DESTRUCTIVE: 'destructive'>
    """
    if not isinstance(trust, Trust):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may give anything
        trust = Trust.UNTRUSTED
    evidence = _as_writer_where_it_destroys(evidence, trust)
    evidence = _without_word_of_contradicted(evidence, trust)
    chosen = {name: _resolve_one(name, evidence, trust, threshold) for name in HINT_NAMES}
    if (read_only := chosen["read_only"]).value:
        # The write hints have no meaning on a read-only tool, whatever was said of them.
        for name in ("destructive", "idempotent"):
            chosen[name] = Resolved(value=LOOSER[name], source=read_only.source)
    return ResolvedIntent(**chosen)


def stricter(first: ResolvedIntent, second: ResolvedIntent) -> ResolvedIntent:
    """Of each hint the value that permits less, and who said so; `second`'s where they agree."""
    chosen = dict(second.items())
    for name, hint in first.items():
        if chosen[name].value is LOOSER[name]:
            chosen[name] = hint
    return ResolvedIntent(**chosen)


def _as_writer_where_it_destroys(evidence: Evidence, trust: Trust) -> Evidence:
    """To say that a tool destroys is to say that it writes, whoever says it.

    A trusted server is read as the specification reads it: read-only makes the rest void.
    """
    operator = evidence.operator
    said = evidence.declared
    verdicts = dict(evidence.verdicts)
    inferred = dict(evidence.inferred)
    if operator.destructive:
        operator = replace(operator, read_only=False)
    if said.destructive and not (said.read_only and trust is Trust.TRUSTED):
        said = replace(said, read_only=False)
    if verdicts.get("destructive") == "refuted":
        verdicts["read_only"] = "refuted"
    destroys = inferred.get("destructive")
    if destroys is not None and destroys.value and destroys.confidence >= DOUBT:
        inferred["read_only"] = replace(destroys, value=False)
    return Evidence(said, inferred, verdicts, operator)


def _without_word_of_contradicted(evidence: Evidence, trust: Trust) -> Evidence:
    """Drop a declared `destructive: false` beside a `read_only: true` that is doubted.

    A server that is wrong about the one is not believed about the other, unless the inference
    agrees. A trusted server is believed about both.
    """
    if trust is Trust.TRUSTED:
        return evidence
    said = evidence.declared
    inferred = evidence.inferred
    reads = inferred.get("read_only")
    destroys = inferred.get("destructive")
    if not said.read_only or said.destructive is not False or reads is None:
        return evidence
    is_doubted = not reads.value and reads.confidence >= DOUBT
    if not is_doubted or (destroys is not None and not destroys.value):
        return evidence
    return replace(evidence, declared=replace(said, destructive=None))


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
    # Only words stand here: a looser declaration or none, and an inference.
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
