"""Questions to people: over every channel that the policy permits, until the first answer."""

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
"""How long channels may take with a question before the call is answered to its client."""

_CONSOLE: Final = "console"
_ELICITATION: Final = "elicitation"

_log: Final = logging.getLogger(__name__)


async def settled(guard: GuardContext, call: Call, question: Question, deadline: float) -> Approval:
    """Return the question of this call, once it is answered or the call's patience has ended.

    `deadline` is by the event loop's clock. Raises `SealError` for an invalid state from the
    client.
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
    """Put the question. A call that is cancelled meanwhile still gets its number."""
    log = guard.audit
    asked = log.asking(call.facts, call.approval)
    most = call.policy.open_per_caller
    asking = asyncio.ensure_future(
        guard.approvals.ask(question, asked=asked, seal=log.chain, most=most)
    )
    try:
        return await asyncio.shield(asking)
    except asyncio.CancelledError:
        # The store may have it already, and would keep a question that is never withdrawn.
        with anyio.CancelScope(shield=True), suppress(StoreError, DeniedError):
            call.approval = (await asyncio.shield(asking)).number
        raise


def asked_in_rounds(guard: GuardContext, call: Call, approval: Approval) -> Answer | None:
    """Return the answer that makes a client of 2026-07-28 ask its person, if it still has to."""
    rounds = call.rounds
    question = approval.question
    if rounds is None or approval.state is not ApprovalState.PENDING:
        return None
    if guard.keys is not None and _relays_in_rounds(guard, call, question):
        if rounds.state is not None:
            return None
        return ask_client(guard.keys, approval)
    # The responses may be for the tool itself, and another question would lose them.
    is_first = rounds.responses is None and rounds.state is None
    if not is_first or URL not in rounds.modes:
        return None
    page = _page(guard, call, approval)
    if page is None:
        return None
    return ask_to_open_page(question, page)


def can_ask(guard: GuardContext, call: Call, question: Question) -> bool:
    """Return whether any channel leads to a person."""
    has_console = guard.console is not None and _CONSOLE in call.policy.channels
    by_rounds = _relays_in_rounds(guard, call, question)
    return has_console or by_rounds or bool(_channels(guard, call, question))


def waits(guard: GuardContext, approval: Approval) -> str:
    """Return a sentence about the open question, and where it can be answered."""
    title = quoted(approval.question.title, _TITLE_CHARACTERS)
    where = f" at {guard.console}" if guard.console else ""
    return f"{title} waits for a person (approval {approval.number}){where}"


def _may_relay(call: Call, question: Question) -> bool:
    """Return whether an answer from the caller's client may count.

    If callers prove who they are, the person at the client is the caller, who cannot approve. If
    the policy names the people who may answer, a client cannot tell which of them its person is.
    """
    is_strong = question.is_out_of_band or question.names_people
    return _ELICITATION in call.policy.channels and not call.principal.is_known and not is_strong


def _relays_in_rounds(guard: GuardContext, call: Call, question: Question) -> bool:
    has_form = call.rounds is not None and FORM in call.rounds.modes
    return has_form and guard.keys is not None and _may_relay(call, question)


def _page(guard: GuardContext, call: Call, approval: Approval) -> str | None:
    """Return the page for the person at the caller's client, unless the page cannot approve.

    It cannot if that person is the caller, or if the policy names the people who may answer.
    """
    is_theirs = not call.principal.is_known and not approval.question.names_people
    if _CONSOLE not in call.policy.channels or not is_theirs:
        return None
    return page_of(guard.console, approval.number)


async def _posted(guard: GuardContext, call: Call, approval: Approval) -> Approval:
    """Offer the question over other channels, since the client may never come back.

    Not if the client's answer counts: that comes first, and may be all that is needed.
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
    """Lead an older client to the page, unless it may answer in a form."""
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
