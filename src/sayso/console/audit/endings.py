"""The state of a call, and the result of a question, in one sentence."""

from typing import Final

from markupsafe import Markup

from sayso.approvals import Approval, ApprovalState
from sayso.audit import Outcome
from sayso.console.audit.calls import LoggedCall
from sayso.console.text import moment, reveal
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
    """Return a call's state as a sentence, with the CSS class `is-good`, `is-bad` or none."""
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
    """Return a duration in seconds; below 0.01 it is “less than 0.01 s”."""
    if seconds < 0.01:  # noqa: PLR2004 - two decimals
        return "less than 0.01\N{NO-BREAK SPACE}s"
    return f"{seconds:,.2f}\N{NO-BREAK SPACE}s"


def settlement(approval: Approval, call: LoggedCall | None, now: float) -> Markup:
    """Return who answered a question and when, and the result of its `call`."""
    if approval.state is ApprovalState.PENDING:
        return Markup("Waiting for an answer until {}.").format(moment(approval.expires, now))
    if approval.answered_at is None:
        return Markup("Not answered by {}. Nothing was run.").format(moment(approval.expires, now))
    verb = "Denied" if approval.state is ApprovalState.DENIED else "Allowed"
    by = Markup("{} at {} {}.").format(verb, moment(approval.answered_at, now), _answerer(approval))
    if call is not None:
        return Markup("{} {}").format(by, ending(call, now))
    return by + Markup(" ") + _after(approval, now)


def by_whom(person: str, channel: str) -> str:
    """Return the person and the channel of an answer.

    >>> by_whom("console", "console"), by_whom("amy", "link")
    ('in the console', 'by amy (link)')
    """
    return f"in the {channel}" if person == channel else f"by {person} ({channel})"


def _answerer(approval: Approval) -> str:
    return reveal(by_whom(f"{approval.answered_by}", f"{approval.channel}"))


def _after(approval: Approval, now: float) -> Markup:
    until = moment(approval.expires, now)
    match approval.state:
        case ApprovalState.DENIED if approval.expires > now:
            return Markup("The same call is denied until {}.").format(until)
        case ApprovalState.DENIED:
            return Markup("Nothing was run.")
        case ApprovalState.USED:
            return Markup("The call has started.")
        case ApprovalState.EXPIRED:
            return Markup("No call was made by {}, so the approval expired.").format(until)
        case _:
            return Markup("Valid for one call until {}.").format(until)
