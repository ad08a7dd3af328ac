"""What became of a question, in one sentence."""

from markupsafe import Markup

from avow.approvals import Approval, ApprovalState
from avow.console.calls import LoggedCall
from avow.console.endings import ending
from avow.console.moments import moment
from avow.console.text import reveal


def settlement(approval: Approval, call: LoggedCall | None, now: float) -> Markup:
    """Who answered a question and when, and what follows; or that nobody did.

    `call` is the one that used the approval, as far as the log tells of it.
    """
    if approval.state is ApprovalState.PENDING:
        return Markup("Waits for an answer until {}.").format(moment(approval.expires, now))
    if approval.answered_at is None:
        return Markup("Not answered by {}. Nothing was run.").format(moment(approval.expires, now))
    verb = "Denied" if approval.state is ApprovalState.DENIED else "Approved"
    by = Markup("{} at {} {}.").format(verb, moment(approval.answered_at, now), _by(approval))
    if call is not None:
        return Markup("{} {}").format(by, ending(call, now))
    return by + Markup(" ") + _after(approval, now)


def _by(approval: Approval) -> str:
    """Who, and over which channel, in as few words as say both."""
    if approval.answered_by == approval.channel:
        return reveal(f"in the {approval.channel}")
    return reveal(f"by {approval.answered_by} ({approval.channel})")


def _after(approval: Approval, now: float) -> Markup:
    until = moment(approval.expires, now)
    match approval.state:
        case ApprovalState.DENIED if approval.expires > now:
            return Markup("The same call stays denied until {}.").format(until)
        case ApprovalState.DENIED:
            return Markup("Nothing was run.")
        case ApprovalState.USED:
            return Markup("Its one call has begun.")
        case ApprovalState.EXPIRED:
            return Markup("No call was made by {}, so it is void.").format(until)
        case _:
            return Markup("Good for one call until {}.").format(until)
