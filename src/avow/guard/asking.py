"""Putting a question over every channel that policy permits, and waiting for whoever is first."""

import logging
from typing import TYPE_CHECKING, Final

import anyio

from avow.approvals import (
    Approval,
    ApprovalState,
    Channel,
    ElicitationChannel,
    Question,
    Strength,
    take_answer,
)
from avow.guard.call import Call
from avow.policy import Require
from avow.schema.plain import plain

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard

_PROGRESS_SECONDS: Final = 5.0
_CONSOLE: Final = "console"
_ELICITATION: Final = "elicitation"

_log: Final = logging.getLogger(__name__)


async def settled(guard: "Guard", call: Call, question: Question, deadline: float) -> Approval:
    """The open question of this call, once it is answered or the call's patience has ended.

    `deadline` is by the event loop's clock, which nobody sets. Raises `SealError` for a state that
    the client brought back and that is not good for it.
    """
    log = guard.audit
    asked = log.asking(call.facts, call.approval)
    approval = await guard.approvals.ask(question, asked=asked, seal=log.chain)
    if call.approval != approval.number:
        call.approval = approval.number
        if approval.state is ApprovalState.PENDING:
            guard.announce(waits(guard, approval))
    if approval.state is not ApprovalState.PENDING:
        return approval
    if call.rounds is not None and guard.keys is not None and call.rounds.state is not None:
        if _may_relay(call, approval.question):
            await take_answer(
                guard.keys, guard.approvals, approval, call.rounds, call.principal.client
            )
            approval = await guard.approvals.find(approval.number) or approval
            if approval.state is not ApprovalState.PENDING:
                return approval
    elif asks_in_rounds(guard, call, approval):
        return approval
    async with anyio.create_task_group() as group:
        for channel in _channels(guard, call, approval.question):
            group.start_soon(_offer, channel, guard, approval)
        approval = await _wait(guard, call, approval, deadline)
        group.cancel_scope.cancel()
    return approval


def asks_in_rounds(guard: "Guard", call: Call, approval: Approval) -> bool:
    """Whether the client is to be asked by answering its call with a question."""
    return (
        approval.state is ApprovalState.PENDING
        and call.rounds is not None
        and call.rounds.state is None
        and guard.keys is not None
        and _may_relay(call, approval.question)
    )


def can_ask(guard: "Guard", call: Call, question: Question) -> bool:
    """Whether there is any way to a person."""
    has_console = guard.console is not None and _CONSOLE in call.under.channels
    by_rounds = call.rounds is not None and guard.keys is not None and _may_relay(call, question)
    return has_console or by_rounds or bool(_channels(guard, call, question))


def waits(guard: "Guard", approval: Approval) -> str:
    """In a sentence, what waits and where it can be answered."""
    title = plain(approval.question.title)
    where = f" at {guard.console}" if guard.console else ""
    return f"“{title}” waits for a person (approval {approval.number}){where}"


def _may_relay(call: Call, question: Question) -> bool:
    """Whether what the caller's own client says may count.

    Where callers prove who they are, the person at the client is the caller, who cannot approve.
    Where people are named who may answer, a client cannot tell which of them its person is.
    """
    is_strong = question.require == Require.OUT_OF_BAND or question.names_people
    return _ELICITATION in call.under.channels and not call.principal.is_known and not is_strong


def _channels(guard: "Guard", call: Call, question: Question) -> list[Channel]:
    found: list[Channel] = [one for one in guard.channels if one.name in call.under.channels]
    if call.elicit is not None and _may_relay(call, question):
        found.append(ElicitationChannel(call.elicit, call.principal.client))
    if question.require == Require.OUT_OF_BAND:
        found = [one for one in found if one.strength is Strength.OUT_OF_BAND]
    return found


async def _offer(channel: Channel, guard: "Guard", approval: Approval) -> None:
    try:
        await channel.offer(guard.approvals, approval)
    except Exception:  # noqa: BLE001 - whatever a channel raises, the others go on
        _log.exception("the channel %s failed for approval %s", channel.name, approval.number)


async def _wait(guard: "Guard", call: Call, approval: Approval, deadline: float) -> Approval:
    while approval.state is ApprovalState.PENDING:
        left = max(deadline - anyio.current_time(), 0)
        await call.progress(guard.patience - left, guard.patience, waits(guard, approval))
        if left == 0:
            break
        seconds = min(left, _PROGRESS_SECONDS)
        approval = await guard.approvals.wait(approval.number, seconds) or approval
    return approval
