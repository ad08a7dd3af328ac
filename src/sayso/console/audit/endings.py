"""A call's state or outcome in one sentence, marked as good or bad."""

from typing import Final

from markupsafe import Markup

from sayso.audit import Outcome
from sayso.console.audit.calls import LoggedCall
from sayso.console.text import moment
from sayso.console.words import EVENTS, OUTCOMES

_LONG: Final = 3600.0
"""Seconds after which a call without an outcome is not shown as running."""

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
_NO_END: Final = "No outcome is recorded. Check the result before you do anything else."
_SENTENCE: Final = Markup('<span class="{}">{}</span>')


def ending(call: LoggedCall, now: float) -> Markup:
    """Return a call's state as a sentence, marked `is-good` or `is-bad` if it is either."""
    if not call.last.call:
        return Markup("{}.").format(EVENTS.get(call.last.event, call.last.event))
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
    lasted = ""
    if call.begun is not None:
        lasted = took(call.last.at - call.begun)
    match call.outcome:
        case Outcome.OK if lasted:
            return f"Ran in {lasted}."
        case Outcome.TOOL_ERROR if lasted:
            return f"The tool reported an error after {lasted}."
        case Outcome.CANCELLED if lasted:
            return "The agent cancelled it."
        case outcome:
            return OUTCOMES.get(outcome, outcome)


def took(seconds: float) -> str:
    """Return a short duration in words, at least "less than 0.01 s"."""
    if seconds < 0.01:  # noqa: PLR2004 - two decimals
        return "less than 0.01\N{NO-BREAK SPACE}s"
    return f"{seconds:,.2f}\N{NO-BREAK SPACE}s"
