"""A queue of questions, from which a program takes one when it likes, and answers it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from sayso.agents.approver import PROGRAM
from sayso.approvals import Answer, Approval, Approvals, Strength


@dataclass(frozen=True, slots=True)
class Asked:
    """One question in the program's hands."""

    approvals: Approvals = field(repr=False)
    approval: Approval

    async def allow(self) -> bool:
        """Say yes; `False` where that came too late to count."""
        return await self._say(is_allowed=True)

    async def deny(self, message: str | None = None) -> bool:
        """Say no, and to the model why; `False` where that came too late to count."""
        return await self._say(is_allowed=False, message=message)

    async def _say(self, *, is_allowed: bool, message: str | None = None) -> bool:
        said = Answer(is_allowed=is_allowed, by=PROGRAM, channel=PROGRAM, message=message)
        return await self.approvals.answer(self.approval.number, said)


@dataclass(slots=True)
class ApprovalQueue:
    """An approver that the program takes questions from: `async for asked in queue`.

    Each question comes once. Those that were settled elsewhere meanwhile may still come: their
    answers then do not count. Serves any number of wrapped clients of one event loop.
    """

    name: str = PROGRAM
    strength: Strength = Strength.OUT_OF_BAND
    _seen: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    _line: asyncio.Queue[Asked] = field(default_factory=asyncio.Queue["Asked"])

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        """See `Channel.offer`."""
        key = id(approvals), approval.number
        if key not in self._seen:
            self._seen.add(key)
            self._line.put_nowait(Asked(approvals, approval))

    async def __aiter__(self) -> AsyncIterator[Asked]:
        """The questions as they come, without an end."""
        while True:
            yield await self.take()

    async def take(self) -> Asked:
        """The next question; waits for one."""
        return await self._line.get()
