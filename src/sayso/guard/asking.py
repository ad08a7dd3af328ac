"""Questions to people, sent over every channel that the policy permits, until the first answer."""

import asyncio
import logging
from contextlib import suppress
from typing import Final

import anyio

from sayso.approvals import (
    FORM,
    URL,
    Approval,
    ApprovalState,
    Channel,
    ElicitationChannel,
    Question,
    Strength,
    UrlElicitationChannel,
    ask_client,
    ask_to_open_page,
    is_declined,
    page_of,
    take_answer,
)
from sayso.errors import DeniedError, StoreError
from sayso.guard.call import Answer, Call, no_progress
from sayso.guard.context import GuardContext
from sayso.schema import quoted

_TITLE_CHARACTERS: Final = 120
_PROGRESS_SECONDS: Final = 5.0
_POST_SECONDS: Final = 1.0
"""The time that channels get to send a question before the call's answer goes to its client."""

_CONSOLE: Final = "console"
_ELICITATION: Final = "elicitation"

_log: Final = logging.getLogger(__name__)


async def settled(guard: GuardContext, call: Call, question: Question, deadline: float) -> Approval:
    """Ask a person, and return the approval once it is answered or `deadline` is reached.

    `deadline` is a time of the event loop's clock. If the call's answer must carry the question to
    the client, return at once. Raises `SealError` if the client sends an invalid state.
    """
    approval = await _asked(guard, call, question)
    if call.approval != approval.number:
        call.approval = approval.number
        if approval.state is ApprovalState.PENDING:
            guard.announce(waits(guard, approval))
    if approval.state is not ApprovalState.PENDING:
        return approval
    if asked_in_rounds(guard, call, approval) is not None:
        return await _posted(guard, call, approval)
    approval = await _brought(guard, call, approval)
    if approval.state is not ApprovalState.PENDING or _is_over(guard, call, question):
        return approval
    return await _offered(guard, call, approval, deadline)


async def _asked(guard: GuardContext, call: Call, question: Question) -> Approval:
    """Store the question and return its approval; a call cancelled meanwhile keeps the number."""
    log = guard.audit
    asked = log.asking(call.facts, call.approval)
    limit = call.policy.open_per_caller
    asking = asyncio.ensure_future(
        guard.approvals.ask(question, asked=asked, seal=log.chain, limit=limit)
    )
    try:
        return await asyncio.shield(asking)
    except asyncio.CancelledError:
        # Find the question if it was stored: without its number it could never be withdrawn.
        with anyio.CancelScope(shield=True), suppress(StoreError, DeniedError):
            call.approval = (await asyncio.shield(asking)).number
        raise


def asked_in_rounds(guard: GuardContext, call: Call, approval: Approval) -> Answer | None:
    """Return the answer by which a 2026-07-28 client asks its person, or `None` for no question."""
    rounds = call.rounds
    question = approval.question
    if rounds is None or approval.state is not ApprovalState.PENDING:
        return None
    if guard.keys is not None and _relays_in_rounds(guard, call, question):
        if rounds.state is not None:
            return None
        return ask_client(guard.keys, approval)
    # Responses in the request may be for the tool itself; another question would lose them.
    is_first = rounds.responses is None and rounds.state is None
    if not is_first or URL not in rounds.modes:
        return None
    page = _page(guard, call, approval)
    if page is None:
        return None
    return ask_to_open_page(question, page)


def can_ask(guard: GuardContext, call: Call, question: Question) -> bool:
    """Return whether any channel can reach a person."""
    has_console = guard.console is not None and _CONSOLE in call.policy.channels
    by_rounds = _relays_in_rounds(guard, call, question)
    return has_console or by_rounds or bool(_channels(guard, call, question))


def waits(guard: GuardContext, approval: Approval) -> str:
    """Return a text that names the open question and where it can be answered."""
    title = quoted(approval.question.title, _TITLE_CHARACTERS)
    where = f" at {guard.console}" if guard.console else ""
    return f"{title} waits for a person (approval {approval.number}){where}"


def _may_relay(call: Call, question: Question) -> bool:
    """Return whether an answer from the caller's client may count.

    An authenticated caller is the person at its client, who must not approve their own call. If the
    policy names the people who may answer, a client cannot prove which person answers.
    """
    is_strong = question.is_out_of_band or question.names_people
    return _ELICITATION in call.policy.channels and not call.principal.is_known and not is_strong


def _relays_in_rounds(guard: GuardContext, call: Call, question: Question) -> bool:
    has_form = call.rounds is not None and FORM in call.rounds.modes
    return has_form and guard.keys is not None and _may_relay(call, question)


def _page(guard: GuardContext, call: Call, approval: Approval) -> str | None:
    """Return the address of the page where the person at the client may answer, or `None`.

    There is no page if that person is the caller, or if the policy names people or no console.
    """
    may_answer = not call.principal.is_known and not approval.question.names_people
    if _CONSOLE not in call.policy.channels or not may_answer:
        return None
    return page_of(guard.console, approval.number)


async def _posted(guard: GuardContext, call: Call, approval: Approval) -> Approval:
    """Send the question over the other channels, since the client may never return.

    If the client's answer counts, nothing is sent yet: the client is asked first.
    """
    if _relays_in_rounds(guard, call, approval.question):
        return approval
    with anyio.move_on_after(_POST_SECONDS):
        async with anyio.create_task_group() as group:
            for channel in _channels(guard, call, approval.question):
                group.start_soon(_offer, channel, guard, approval)
    return await guard.approvals.find(approval.number) or approval


async def _brought(guard: GuardContext, call: Call, approval: Approval) -> Approval:
    rounds = call.rounds
    if rounds is None:
        return approval
    if guard.keys is None or not _relays_in_rounds(guard, call, approval.question):
        call.is_declined = is_declined(rounds.response)
    elif rounds.state is not None:
        client = call.principal.client
        await take_answer(guard.keys, guard.approvals, approval, rounds, client)
        return await guard.approvals.find(approval.number) or approval
    return approval


def _is_over(guard: GuardContext, call: Call, question: Question) -> bool:
    return call.is_declined and not _channels(guard, call, question)


async def _offered(
    guard: GuardContext, call: Call, approval: Approval, deadline: float
) -> Approval:
    visit = _visit(guard, call, approval)
    async with anyio.create_task_group() as group:
        for channel in _channels(guard, call, approval.question):
            group.start_soon(_offer, channel, guard, approval)
        if visit is not None:
            group.start_soon(_lead, guard, call, approval, visit, group.cancel_scope)
        text = waits(guard, approval)
        await _report(guard, call, deadline, text)
        if call.progress is not no_progress:
            group.start_soon(_keep_reporting, guard, call, deadline, text)
        left = max(deadline - anyio.current_time(), 0)
        approval = await guard.approvals.wait(approval.number, left) or approval
        group.cancel_scope.cancel()
    if visit is not None:
        approval = await guard.approvals.find(approval.number) or approval
        await visit.end(approval)
    return approval


def _visit(guard: GuardContext, call: Call, approval: Approval) -> UrlElicitationChannel | None:
    """Return the channel that opens the page at an older client; `None` for a form or no page."""
    elicit = call.request.elicit
    question = approval.question
    if elicit is None or URL not in elicit.modes or _relays_while_waiting(call, question):
        return None
    page = _page(guard, call, approval)
    if page is None:
        return None
    return UrlElicitationChannel(elicit, page)


async def _lead(
    guard: GuardContext,
    call: Call,
    approval: Approval,
    visit: UrlElicitationChannel,
    scope: anyio.CancelScope,
) -> None:
    await _offer(visit, guard, approval)
    call.is_declined = visit.is_declined
    if _is_over(guard, call, approval.question):
        scope.cancel()


def _relays_while_waiting(call: Call, question: Question) -> bool:
    has_form = call.request.elicit is not None and FORM in call.request.elicit.modes
    return has_form and _may_relay(call, question)


def _channels(guard: GuardContext, call: Call, question: Question) -> list[Channel]:
    channels = [channel for channel in guard.channels if channel.name in call.policy.channels]
    if call.request.elicit is not None and _relays_while_waiting(call, question):
        channels.append(ElicitationChannel(call.request.elicit, call.principal.client))
    if question.is_out_of_band:
        return [channel for channel in channels if channel.strength is Strength.OUT_OF_BAND]
    return channels


async def _offer(channel: Channel, guard: GuardContext, approval: Approval) -> None:
    try:
        await channel.offer(guard.approvals, approval)
    except Exception:  # noqa: BLE001 - whatever a channel raises, the others go on
        _log.exception("the channel %s failed for approval %s", channel.name, approval.number)


async def _keep_reporting(guard: GuardContext, call: Call, deadline: float, text: str) -> None:
    while True:
        await anyio.sleep(_PROGRESS_SECONDS)
        await _report(guard, call, deadline, text)


async def _report(guard: GuardContext, call: Call, deadline: float, text: str) -> None:
    left = max(deadline - anyio.current_time(), 0)
    patience = guard.patience_of(call)
    await call.progress(patience - left, patience, text)
