"""How a call stands or ended, in one sentence, and whether that is good or bad news."""

from typing import Final

from markupsafe import Markup

from avow.audit import Outcome
from avow.console.calls import LoggedCall
from avow.console.moments import moment
from avow.console.words import OUTCOMES

_LONG: Final = 3600.0
"""Seconds after which a call without an end is not said to be running: avow may have ended."""

_BAD: Final = frozenset(
    {
        Outcome.TOOL_ERROR,
        Outcome.ERROR,
        Outcome.BAD_OUTPUT,
        Outcome.FAILED,
        Outcome.UNREACHABLE,
        Outcome.OUTCOME_UNKNOWN,
    }
)
_NO_END: Final = "No end of it is on record: look before doing anything else."
_SENTENCE: Final = Markup('<span class="{}">{}</span>')


def ending(call: LoggedCall, now: float) -> Markup:
    """The sentence, marked `is-good` or `is-bad` where it is either."""
    if call.outcome:
        return _SENTENCE.format(_tone(call.outcome), _ended(call))
    if call.begun is not None:
        if now - call.begun > _LONG:
            return _SENTENCE.format("is-bad", _NO_END)
        return Markup("Running since {} …").format(moment(call.begun, now))
    if now - call.last.at > _LONG:
        return Markup("A person was asked. Nothing was run.")
    return Markup("A person is asked.")


def _tone(outcome: str) -> str:
    if outcome == Outcome.OK:
        return "is-good"
    return "is-bad" if outcome in _BAD else ""


def _ended(call: LoggedCall) -> str:
    took = "" if call.begun is None else _took(call.last.at - call.begun)
    match call.outcome:
        case Outcome.OK if took:
            return f"Ran in {took}."
        case Outcome.TOOL_ERROR if took:
            return f"The tool reported an error after {took}."
        case Outcome.CANCELLED if took:
            return "The agent gave up."
        case outcome:
            return OUTCOMES.get(outcome, outcome)


def _took(seconds: float) -> str:
    if seconds < 0.01:  # noqa: PLR2004 - the smallest that two decimals can say
        return "less than 0.01 s"
    return f"{seconds:,.2f} s"
