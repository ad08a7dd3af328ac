"""The result of a question in one sentence."""

from markupsafe import Markup

from sayso.approvals import Approval, ApprovalState
from sayso.console.audit.calls import LoggedCall
from sayso.console.audit.endings import ending
from sayso.console.text import moment, reveal


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
            return Markup("Its call has started.")
        case ApprovalState.EXPIRED:
            return Markup("No call was made by {}, so it expired.").format(until)
        case _:
            return Markup("Valid for one call until {}.").format(until)
