"""The step `confirm`: let a call that must ask continue only with an approval or a grant."""

from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Final

import anyio

from sayso.approvals import SEALED_FOR, Approval, ApprovalState, Question, make_question
from sayso.audit import Outcome
from sayso.errors import DeniedError, SealError
from sayso.guard.asking import asked_in_rounds, can_ask, settled, waits
from sayso.guard.call import META_APPROVAL, Answer, Call, tool_changed, tool_error, unplanned
from sayso.guard.context import GuardContext, Step
from sayso.guard.recheck import Change, DetectedChange, find_change
from sayso.policy import Effect
from sayso.schema import plain

_NO_CHANNEL: Final = (
    "The client cannot ask a person, or must not, and there is no console and no other channel. To "
    "the operator: behind a gateway that asks, use sayso.bind(server, asks=False); with the "
    "console of a gateway on the same store, sayso.bind(server, console=True); around a client, "
    "sayso.wrap(…, approver=…)."
)

_TOO_MANY: Final = (
    "Wait until some of them are answered or have expired, then make the call again. To the "
    "operator: open_per_caller under [approvals] limits the open questions of a caller."
)


async def confirm(guard: GuardContext, call: Call) -> Answer | None:
    """Continue with a grant, or with an approval that no other call has used.

    If the wait ends without an answer, the call becomes a tool error that states where to answer.
    The same call made again joins the open question, or runs on its approval. A call that is
    cancelled while it waits does not run; its question stays open, or is withdrawn if the guard
    `withdraws`. Other calls of the same agent may run during the wait.
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
    """Return the answer that ends the call; `None` if the call is approved or must ask again.

    A call must ask again if its approval expired or was used by another call, or its plan changed.
    """
    asked = call.arguments, call.arguments_digest, call.tool, call.tool_facts
    if not can_ask(guard, call, question):
        return _refused(call, f"{call.decision.reason}, and no person can be asked", _NO_CHANNEL)
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
    change = await find_change(guard, call, approval)
    if change is not None and change.change is not Change.PLAN:
        return _changed(call, change)
    if change is None and await guard.approvals.use(approval, call=call.id):
        call.approved = approval
        return None
    if change is not None:
        call.rounds = call.rounds and replace(call.rounds, responses=None, state=None)
    # The next question is about the caller's arguments, not the reviewer's.
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
    """Return the answer for a question that could not be asked; `None` to ask again."""
    if not isinstance(error, SealError):
        return _refused(call, str(error), _TOO_MANY)
    if not await _was_asked_of_another_plan(guard, call, question):
        return _refused(call, str(error))
    call.rounds = call.rounds and replace(call.rounds, responses=None, state=None)
    return None


async def _was_asked_of_another_plan(guard: GuardContext, call: Call, question: Question) -> bool:
    """Return whether the client's state is valid for this call, but for an earlier plan of it."""
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


def _changed(call: Call, change: DetectedChange) -> Answer:
    if change.change is Change.UNPLANNED:
        return unplanned(call, change.reason)
    if change.change is Change.CONDITION:
        call.outcome = Outcome.DENIED
        return tool_error(change.reason)
    if change.change is not Change.TOOL:
        return _refused(call, change.reason)
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
            "Not run: the person at the client did not open the page where this call is answered. "
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
    """Return the text that tells a model that a person denied its call, with their message."""
    quote = ""
    if message:
        lines = "\n".join(plain(line) for line in message.splitlines())
        quote = f" The person said: “{lines}”."
    return (
        f"A person denied this call (approval {number}). Nothing was run.{quote} Do not make it "
        "again, and do not try to reach the same end another way."
    )


def _meta(approval: Approval) -> dict[str, object]:
    return {META_APPROVAL: {"number": approval.number, "state": str(approval.state)}}


CONFIRM: Final = Step("confirm", lambda call: call.decision.effect is not Effect.ALLOW, confirm)
