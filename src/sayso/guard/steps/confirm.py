"""Confirm: a person answers before the call goes on, and each answer serves one call."""

from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Final

import anyio

from sayso.approvals import SEALED_FOR, Approval, ApprovalState, Question, make_question
from sayso.audit import Outcome
from sayso.errors import DeniedError, SealError
from sayso.guard.asking import asked_in_rounds, can_ask, settled, waits
from sayso.guard.call import META_APPROVAL, Answer, Call, tool_changed, tool_error, unplanned
from sayso.guard.context import GuardContext
from sayso.guard.recheck import Change, DetectedChange, find_change
from sayso.guard.step import Step
from sayso.policy import Effect
from sayso.schema import plain

_NOBODY: Final = (
    "Its client cannot ask a person, or must not, and there is no console and no other channel to "
    "one. To the operator: behind a gateway that asks, use sayso.bind(server, asks=False); with "
    "the console of a gateway on the same store, sayso.bind(server, console=True); around a "
    "client, sayso.wrap(…, approver=…)."
)

_TOO_MANY: Final = (
    "Wait until some of them are answered or have expired, then make the call again. To the "
    "operator: open_per_caller under [approvals] is how many may wait."
)


async def confirm(guard: GuardContext, call: Call) -> Answer | None:
    """Go on only with an approval that this call alone has used, or with a standing one.

    A call that waited in vain ends as a tool error that says where to answer; made again, it
    joins the question that is open, or runs on its approval. When cancelled while it waits, nothing
    runs, and the question stays open unless the guard withdraws such questions. The other calls of
    its agent go by meanwhile.
    """
    if call.decision.effect is not Effect.CONFIRM:
        return _refused(call, call.decision.reason)
    deadline = anyio.current_time() + guard.patience_of(call)
    answer: Answer | None = None
    while answer is None:
        question = make_question(
            call.principal,
            call.tool,
            call.shown,
            call.decision,
            call.arguments_digest,
            plan=call.plan,
            extras=call.shown_extras,
            channels=call.policy.channels,
        )
        call.grant = await guard.approvals.granted(question)
        if call.grant is not None:
            return None
        answer = await _ask(guard, call, question, deadline)
        if call.approved is not None:
            return None
    return answer


async def _ask(
    guard: GuardContext, call: Call, question: Question, deadline: float
) -> Answer | None:
    """Return why the call does not go on; `None` when it has its approval, or is to ask again.

    It asks again when another call used the approval, it expired, or the plan has changed.
    """
    asked = call.arguments, call.arguments_digest, call.tool, call.tool_facts
    if not can_ask(guard, call, question):
        return _refused(call, f"{call.decision.reason}, and there is nobody to ask", _NOBODY)
    try:
        approval = await _settled(guard, call, question, deadline)
    except DeniedError as error:
        return await _unasked(guard, call, question, error)
    if approval.state is ApprovalState.PENDING:
        return _waiting(guard, call, approval)
    if approval.state is ApprovalState.DENIED:
        return await _denied(guard, call, approval)
    if approval.state is not ApprovalState.APPROVED:
        return None
    found = await find_change(guard, call, approval)
    if found is not None and found.change is not Change.PLAN:
        return _changed(call, found)
    if found is None and await guard.approvals.use(approval, call=call.id):
        call.approved = approval
        return None
    if found is not None:
        call.rounds = call.rounds and replace(call.rounds, responses=None, state=None)
    # What is asked anew is the caller's call, not the reviewer's.
    call.arguments, call.arguments_digest, call.tool, call.tool_facts = asked
    return None


async def _settled(
    guard: GuardContext, call: Call, question: Question, deadline: float
) -> Approval:
    turn = call.request.turn
    try:
        async with turn.away() if turn else nullcontext():
            return await settled(guard, call, question, deadline)
    except anyio.get_cancelled_exc_class():
        if guard.withdraws and call.approval is not None:
            with anyio.CancelScope(shield=True):
                await guard.approvals.withdraw(call.approval)
        raise


async def _unasked(
    guard: GuardContext, call: Call, question: Question, error: DeniedError
) -> Answer | None:
    """Return why there is no question, or its state is of another one; `None` to ask anew."""
    if not isinstance(error, SealError):
        return _refused(call, str(error), _TOO_MANY)
    if not await _was_asked_of_another_plan(guard, call, question):
        return _refused(call, str(error))
    call.rounds = call.rounds and replace(call.rounds, responses=None, state=None)
    return None


async def _was_asked_of_another_plan(guard: GuardContext, call: Call, question: Question) -> bool:
    """Return whether the client's state is of the same call, whose plan has changed since."""
    state = call.rounds and call.rounds.state
    if not state or call.plan is None or guard.keys is None:
        return False
    for approval in await guard.approvals.newest():
        asked = approval.question
        is_same_call = asked.call_binding == question.call_binding
        if is_same_call and asked.plan_digest != question.plan_digest:
            with suppress(SealError):
                guard.keys.open(SEALED_FOR, state, bound={"binding": asked.binding})
                return True
    return False


def _refused(call: Call, reason: str, more: str = "") -> Answer:
    call.outcome = Outcome.DENIED
    text = f"Policy does not allow this call: {reason}. Nothing was run. {more}"
    return tool_error(text.rstrip())


def _changed(call: Call, found: DetectedChange) -> Answer:
    if found.change is Change.UNPLANNED:
        return unplanned(call, found.reason)
    if found.change is Change.CONDITION:
        call.outcome = Outcome.DENIED
        return tool_error(found.reason)
    if found.change is not Change.TOOL:
        return _refused(call, found.reason)
    return tool_changed(call)


def _waiting(guard: GuardContext, call: Call, approval: Approval) -> Answer:
    asked = asked_in_rounds(guard, call, approval)
    if asked is not None:
        call.outcome = Outcome.INPUT_REQUIRED
        return asked
    call.outcome = Outcome.WAITING
    text = (
        f"Not run yet: {waits(guard, approval)}. Only a person can approve it; nothing "
        "said in this conversation does. Make exactly the same call again afterwards: it runs "
        "if it was approved."
    )
    if call.is_declined:
        text = (
            "Not run: nobody at its client wanted to open the page where this call is answered. "
            f"{waits(guard, approval)}. Do not make the call again unless the person says so."
        )
    return tool_error(text, **_meta(approval))


async def _denied(guard: GuardContext, call: Call, approval: Approval) -> Answer:
    call.outcome = Outcome.DENIED
    message = None
    for answer in await guard.approvals.answers(approval.number):
        message = answer.message or message
    return tool_error(denial(approval.number, message), **_meta(approval))


def denial(number: int, message: str | None) -> str:
    """Return what a model reads of a call that a person has denied, perhaps with a message."""
    said = ""
    if message:
        lines = "\n".join(plain(line) for line in message.splitlines())
        said = f" The person said: “{lines}”."
    return (
        f"A person denied this call (approval {number}). Nothing was run.{said} Do not make it "
        "again, and do not try to reach the same end another way."
    )


def _meta(approval: Approval) -> dict[str, object]:
    return {META_APPROVAL: {"number": approval.number, "state": str(approval.state)}}


def _is_not_allowed(call: Call) -> bool:
    return call.decision.effect is not Effect.ALLOW


CONFIRM: Final = Step("confirm", _is_not_allowed, confirm)
