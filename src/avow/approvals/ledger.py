"""Questions asked, answered once, and used once."""

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import anyio

from avow.approvals.question import Approval, Question
from avow.errors import UsageError
from avow.store import ApprovalState, Store

_POLL_SECONDS: Final = 0.5
"""How soon an answer given in another process is seen; one in this process wakes at once."""


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """In seconds: how long a question stands, an approval may be used, and a denial holds."""

    question: float = 900.0
    approval: float = 300.0
    denial: float = 300.0


@dataclass(slots=True)
class Approvals:
    """The ledger of questions. Safe to use from many tasks, and beside other processes."""

    store: Store
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    clock: Callable[[], float] = time.time
    _answered: dict[int, anyio.Event] = field(
        default_factory=lambda: defaultdict[int, anyio.Event](anyio.Event)
    )

    async def ask(self, question: Question) -> Approval:
        """Put the question, or join the one with the same binding that is open."""
        now = self.clock()
        row = await self.store.open_approval(
            question.binding, question.to_json(), now=now, expires=now + self.lifetimes.question
        )
        return Approval.from_row(row)

    async def answer(self, number: int, *, is_allowed: bool, by: str, channel: str) -> bool:
        """Answer a pending question; `False` when another answer, or its expiry, came first.

        Raises `UsageError` where there is no such question, or `by` asked it themself.
        """
        approval = await self.find(number)
        if approval is None:
            what = f"there is no approval {number}"
            raise UsageError(what)
        if by == approval.question.subject:
            what = f"{by} asked for approval {number} and cannot answer it"
            raise UsageError(what)
        now, lifetimes = self.clock(), self.lifetimes
        expires = now + (lifetimes.approval if is_allowed else lifetimes.denial)
        has_won = await self.store.answer_approval(
            number, is_allowed=is_allowed, by=by, channel=channel, now=now, expires=expires
        )
        if number in self._answered:
            self._answered.pop(number).set()
        return has_won

    async def wait(self, number: int, seconds: float) -> Approval | None:
        """The question once it is no longer pending, or as it stands after `seconds`."""
        with anyio.move_on_after(seconds):
            while True:
                answered = self._answered[number]
                approval = await self.find(number)
                if approval is None or approval.state is not ApprovalState.PENDING:
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

    async def newest(self, limit: int = 100) -> list[Approval]:
        """The newest questions, the pending ones first."""
        rows = await self.store.approvals(now=self.clock(), limit=limit)
        return [Approval.from_row(row) for row in rows]
