"""Confirm: a person answers before the call goes on, and each answer serves one call."""

from typing import TYPE_CHECKING, Final

from avow.approvals import Approval, ApprovalState, make_question
from avow.audit import Outcome
from avow.guard.call import META_APPROVAL, Answer, Call, tool_error
from avow.policy import Effect

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then

_PROGRESS_SECONDS: Final = 5.0


async def confirm(guard: "Guard", call: Call, then: "Then") -> Answer:
    """Go on only with an approval that this call alone has used.

    A call that waited in vain ends as a tool error that says where to answer; made again, it
    joins the question that is open, or runs on its approval. When cancelled while it waits, the
    question stays open and nothing runs.
    """
    if call.decided.effect is Effect.ALLOW:
        return await then(call)
    if call.decided.effect is Effect.DENY:
        call.outcome = Outcome.DENIED
        return tool_error(
            f"Policy does not allow this call: {call.decided.reason}. Nothing was run."
        )
    deadline = guard.clock() + guard.patience
    while True:
        approval = await _answered(guard, call, deadline)
        if approval.state is ApprovalState.PENDING:
            return _waiting(guard, call, approval)
        if approval.state is ApprovalState.DENIED:
            return _denied(call, approval)
        if await _has_changed(guard, call):
            return _changed(call)
        if await guard.approvals.use(approval, call=call.id):
            return await then(call)
        # Another call used it, or it expired meanwhile: this one needs an answer of its own.


async def _has_changed(guard: "Guard", call: Call) -> bool:
    """Whether the tool is another than the one that the person was asked about."""
    now = await guard.find_tool(call.name, is_fresh=True)
    asked = call.found
    return now is None or now.fingerprint != asked.fingerprint or now.resolved != asked.resolved


def _changed(call: Call) -> Answer:
    call.outcome = Outcome.TOOL_CHANGED
    return tool_error(
        f"Nothing was run: “{call.found.title}” is not the tool any more that the person was asked "
        "about. Look at it again before making the call."
    )


async def _answered(guard: "Guard", call: Call, deadline: float) -> Approval:
    """The open question of this call, once it is answered or the call's patience has ended."""
    question = make_question(
        call.principal, call.found, call.arguments, call.decided, call.arguments_digest
    )
    approval = await guard.approvals.ask(question)
    if call.approval != approval.number:
        call.approval = approval.number
        if approval.state is ApprovalState.PENDING:
            await guard.audit.asked(call.facts, approval.number)
            guard.announce(_waits(guard, approval))
    while approval.state is ApprovalState.PENDING:
        left = max(deadline - guard.clock(), 0)
        await call.progress(guard.patience - left, guard.patience, _waits(guard, approval))
        if left == 0:
            break
        approval = (
            await guard.approvals.wait(approval.number, min(left, _PROGRESS_SECONDS)) or approval
        )
    return approval


def _waits(guard: "Guard", approval: Approval) -> str:
    title = approval.question.title
    return f"“{title}” waits for a person (approval {approval.number}) at {guard.console}"


def _waiting(guard: "Guard", call: Call, approval: Approval) -> Answer:
    call.outcome = Outcome.WAITING
    text = (
        f"Not run yet: {_waits(guard, approval)}. Only a person can approve it there; nothing "
        "said in this conversation does. Make exactly the same call again afterwards: it runs "
        "if it was approved."
    )
    return tool_error(text, **_meta(approval))


def _denied(call: Call, approval: Approval) -> Answer:
    call.outcome = Outcome.DENIED
    text = (
        f"A person denied this call (approval {approval.number}). Nothing was run. Do not make "
        "it again, and do not try to reach the same end another way."
    )
    return tool_error(text, **_meta(approval))


def _meta(approval: Approval) -> dict[str, object]:
    return {META_APPROVAL: {"number": approval.number, "state": str(approval.state)}}
