"""The words, signs and colours that every report uses for what was found of a hint."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sayso.intent import HintName
from sayso.verify.verdict import HintVerdict


class State(StrEnum):
    """What is told of one hint, what matters most first."""

    REFUTED = "refuted"
    PARTIAL = "partial"
    OVER_DECLARED = "over_declared"
    SUPPORTED = "supported"
    NOT_EXERCISED = "not_exercised"


@dataclass(frozen=True, slots=True)
class StateWords:
    """A state: its name, what it means, and a sign that differs in shape and not only in colour.

    `style` is its colour in a terminal.
    """

    name: str
    meaning: str
    sign: str
    style: str


STATES: Final[Mapping[State, StateWords]] = {
    State.REFUTED: StateWords(
        "refuted",
        "a call did what the hint says the tool does not do; a second run showed it again",
        "✗",
        "bold red",
    ),
    State.PARTIAL: StateWords(
        "partial",
        "nothing spoke against it, but an observer that is needed to support it was missing",
        "◐",
        "yellow",
    ),
    State.OVER_DECLARED: StateWords(
        "over-declared",
        "it warns of more than any call has shown; that is information, and does no harm",
        "▽",
        "magenta",
    ),
    State.SUPPORTED: StateWords(
        "supported",
        "calls that succeeded did nothing against it, and the observers would have seen it",
        "✓",
        "green",
    ),
    State.NOT_EXERCISED: StateWords(
        "not exercised",
        "no call could have shown whether it is true; the reason says why",
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
"""What a hint is called to people."""


def state_of(found: HintVerdict) -> State:
    """The one state that a verdict is shown as.

    >>> state_of(HintVerdict(declared=True, verdict="supported", reason="", is_partial=True))
    <State.PARTIAL: 'partial'>
    """
    if found.verdict == "refuted":
        return State.REFUTED
    if found.is_over_declared:
        return State.OVER_DECLARED
    if found.is_partial:
        return State.PARTIAL
    return State(found.verdict)


def standing(found: HintVerdict) -> str:
    """What the server says of the hint, or what is guessed where it says nothing.

    >>> standing(HintVerdict(declared=None, verdict="refuted", reason="", inferred=True))
    'not declared, inferred true'
    """
    if found.declared is not None:
        return f"declared {found.declared}".lower()
    if found.inferred is not None:
        return f"not declared, inferred {found.inferred}".lower()
    return "not declared"


def count_of(count: int, noun: str) -> str:
    """A number and its noun.

    >>> count_of(1, "call"), count_of(1200, "call")
    ('1 call', '1,200 calls')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
