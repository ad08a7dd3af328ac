"""The words, signs and colours of a hint's state, shared by all reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sayso.intent import HintName
from sayso.verify.verdict import HintVerdict


class State(StrEnum):
    """The state of a hint in a report, the most important first."""

    REFUTED = "refuted"
    PARTIAL = "partial"
    OVER_DECLARED = "over_declared"
    SUPPORTED = "supported"
    NOT_EXERCISED = "not_exercised"


@dataclass(frozen=True, slots=True)
class StateWords:
    """A state's name, meaning, sign and terminal style. The sign is clear without colour."""

    name: str
    meaning: str
    sign: str
    style: str


STATES: Final[Mapping[State, StateWords]] = {
    State.REFUTED: StateWords(
        "refuted",
        "a call had an effect that the hint rules out, and a run on fresh state reproduced it",
        "✗",
        "bold red",
    ),
    State.PARTIAL: StateWords(
        "partial",
        "no call contradicted the hint, but an observer needed to support it was missing",
        "◐",
        "yellow",
    ),
    State.OVER_DECLARED: StateWords(
        "over-declared",
        "the hint warns of an effect that no call had; this is harmless",
        "▽",
        "magenta",
    ),
    State.SUPPORTED: StateWords(
        "supported",
        "no successful call contradicted the hint, and all needed observers were active",
        "✓",
        "green",
    ),
    State.NOT_EXERCISED: StateWords(
        "not exercised",
        "no call could show whether the hint is true; the reason is given",
        "·",
        "dim",
    ),
}

HINTS: Final[Mapping[HintName, str]] = {
    "read_only": "read-only",
    "destructive": "destructive",
    "idempotent": "idempotent",
    "open_world": "open-world",
}
"""Names of the hints for people."""


def state_of(verdict: HintVerdict) -> State:
    """Return the state that reports show for a verdict.

    >>> state_of(HintVerdict(declared=True, verdict="supported", reason="", is_partial=True))
    <State.PARTIAL: 'partial'>
    """
    if verdict.verdict == "refuted":
        return State.REFUTED
    if verdict.is_over_declared:
        return State.OVER_DECLARED
    if verdict.is_partial:
        return State.PARTIAL
    return State(verdict.verdict)


def standing(verdict: HintVerdict) -> str:
    """Return the declared value, or the inferred one if nothing is declared.

    >>> standing(HintVerdict(declared=None, verdict="refuted", reason="", inferred=True))
    'not declared, inferred true'
    """
    if verdict.declared is not None:
        return f"declared {verdict.declared}".lower()
    if verdict.inferred is not None:
        return f"not declared, inferred {verdict.inferred}".lower()
    return "not declared"


def count_of(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> count_of(1, "call"), count_of(1200, "call")
    ('1 call', '1,200 calls')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
