"""Questions asked, answered once, and used once; and the answers that stand for longer."""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from avow.approvals.answer import Answer, check_answer
from avow.approvals.grant import Grant, grant_body
from avow.approvals.question import Approval, Question
from avow.beside import beside
from avow.errors import UsageError
from avow.intent import Span
from avow.store import AnswerRow, ApprovalState, Asked, Said, Seal, Store

_POLL_SECONDS: Final = 0.5
"""How soon an answer given in another process is seen where the database cannot call; one in this
process wakes at once."""

IDLE_SECONDS: Final = 1800.0
"""How long a conversation may be silent before it is over."""


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """In seconds: how long a question stands, an approval may be used, and a denial holds."""

    question: float = 900.0
    approval: float = 300.0
    denial: float = 300.0


@dataclass(slots=True)
class Approvals:
    """The ledger of questions. Safe to use from many tasks, and beside other processes.

    `heard` is told of each answer given here: whether it allows, and how many seconds it took.
    """

    store: Store
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    clock: Callable[[], float] = time.time
    idle: float = IDLE_SECONDS
    heard: Callable[[bool, float], None] | None = None
    _answered: dict[int, anyio.Event] = field(
        default_factory=lambda: defaultdict[int, anyio.Event](anyio.Event)
    )
    is_released: bool = False

    async def ask(
        self, question: Question, *, asked: Asked | None = None, seal: Seal | None = None
    ) -> Approval:
        """Put the question, or join the one with the same binding that is open.

        What `asked` makes of it is on record, in the chain of `seal`, when anybody can see it.
        """
        now = self.clock()
        row = await self.store.open_approval(
            question.binding,
            question.to_json(),
            now=now,
            expires=now + (question.expires or self.lifetimes.question),
            needed=question.needed,
            idle=self.idle,
            asked=asked,
            seal=seal,
        )
        return Approval.from_row(row)

    async def answer(self, number: int, answer: Answer) -> bool:
        """Answer a pending question; `False` when this answer came too late to count.

        That is after another answer that ended it, after its expiry, after an answer of the same
        person, or after an edit that this person has not seen. Raises `UsageError` where there is
        no such question, or this person may not give this answer.
        """
        approval = await self.find(number)
        if approval is None:
            raise UsageError(f"there is no approval {number}")
        check_answer(answer, approval)
        has_counted = await self.store.answer_approval(self._said(answer, approval))
        self.wake(number)
        if has_counted and self.heard is not None:
            self.heard(answer.is_allowed, self.clock() - approval.created)
        return has_counted

    async def withdraw(self, number: int) -> bool:
        """Take a question back that nobody needs the answer to; `False` when it was over."""
        was_open = await self.store.withdraw_approval(number, now=self.clock())
        self.wake(number)
        return was_open

    def wake(self, number: int) -> None:
        """Have those who wait for this question look at it now."""
        if number in self._answered:
            self._answered.pop(number).set()

    def release(self) -> None:
        """Have nobody wait any more: this process ends. The questions stay open."""
        self.is_released = True
        for number in [*self._answered]:
            self.wake(number)

    async def listen(self) -> None:
        """Wake those who wait when another process answers, until cancelled."""
        await self.store.watch(self.wake)

    async def wait(self, number: int, seconds: float) -> Approval | None:
        """The question once it is no longer pending, or as it stands after `seconds`."""
        with anyio.move_on_after(seconds):
            while True:
                answered = self._answered[number]
                approval = await self.find(number)
                is_settled = approval is None or approval.state is not ApprovalState.PENDING
                if is_settled or self.is_released:
                    self._answered.pop(number, None)
                    return approval
                with anyio.move_on_after(_POLL_SECONDS):
                    await answered.wait()
        return await self.find(number)

    async def use(self, approval: Approval, *, call: str) -> bool:
        """Use an approval for one call; `False` when it was used, has expired, or was not given."""
        binding = approval.question.binding
        return await self.store.use_approval(
            approval.number, binding=binding, call=call, now=self.clock()
        )

    async def find(self, number: int) -> Approval | None:
        """One question as it stands."""
        row = await self.store.approval(number, now=self.clock())
        return Approval.from_row(row) if row else None

    async def answers(self, number: int) -> list[AnswerRow]:
        """What was said to one question, oldest first."""
        return await self.store.answers(number)

    async def newest(self, limit: int = 100) -> list[Approval]:
        """The newest questions, the pending ones first."""
        rows = await self.store.approvals(now=self.clock(), limit=limit)
        return [Approval.from_row(row) for row in rows]

    async def pending(self, limit: int, *, after: int = 0) -> list[Approval]:
        """The questions that wait, the oldest first, `after` a number."""
        rows = await self.store.pending(now=self.clock(), limit=limit, after=after)
        return [Approval.from_row(row) for row in rows]

    async def settled(self, limit: int, *, before: int | None = None) -> list[Approval]:
        """The newest questions that wait no longer, of those `before` a number."""
        rows = await self.store.settled(now=self.clock(), limit=limit, before=before)
        return [Approval.from_row(row) for row in rows]

    async def granted(self, question: Question) -> Grant | None:
        """A standing answer that this question needs not be put for; counts as one use of it."""
        if question.needed > 1 or question.longest == Span.ONCE:
            return None
        alive = self.clock() - self.idle
        row = await self.store.find_grant(question.call_binding, question.tool_binding, alive=alive)
        if row is None or Span(row.span).rank > Span(question.longest).rank:
            return None
        if question.channels and row.channel not in question.channels:
            return None
        if not await self.store.use_grant(row.number, now=self.clock(), alive=alive):
            return None
        return Grant.from_row(row)

    async def grants(self, limit: int = 100) -> list[Grant]:
        """The newest standing answers, those that were not taken back first."""
        rows = await self.store.grants(limit=limit, alive=self.clock() - self.idle)
        return [Grant.from_row(row) for row in rows]

    async def revoke(self, number: int, *, by: str) -> bool:
        """Take a standing answer back; `False` when it was taken back before, or never given."""
        return await self.store.revoke_grant(number, by=by, now=self.clock())

    def _said(self, answer: Answer, approval: Approval) -> Said:
        now, lifetimes = self.clock(), self.lifetimes
        seen = _text(answer.seen)
        return Said(
            approval.number,
            answer.by,
            is_allowed=answer.is_allowed,
            channel=answer.channel,
            strength=str(answer.strength),
            now=now,
            expires=now + (lifetimes.approval if answer.is_allowed else lifetimes.denial),
            seen=seen,
            edit=_text(answer.edit) or seen,
            message=answer.message,
            grant=_grant(answer, approval, now),
        )


def listening(approvals: Approvals) -> AbstractAsyncContextManager[None]:
    """Hear at once of answers given in other processes, as far as the store can tell of them."""
    return beside(approvals.listen)


def _text(edit: Mapping[str, Any] | None) -> str:
    """An edit as the store compares it."""
    return json.dumps(edit, sort_keys=True) if edit else ""


def _grant(answer: Answer, approval: Approval, now: float) -> dict[str, Any] | None:
    if answer.span is Span.ONCE:
        return None
    question, is_narrow = approval.question, answer.is_for_arguments
    return {
        "binding": question.call_binding if is_narrow else question.tool_binding,
        "subject": question.subject,
        "client": question.client,
        "span": str(answer.span),
        "is_for_conversation": answer.span is Span.SESSION,
        "body": grant_body(question, is_for_arguments=is_narrow),
        "approval": approval.number,
        "given_by": answer.by,
        "channel": answer.channel,
        "created": now,
    }
