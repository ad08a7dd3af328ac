"""Questions as they come and go, told to screens (server-sent events, HTML standard 9.2).

A screen is first told of all that wait, then `ready` with their numbers: what it still shows and
is not among them was settled while it did not listen. So nothing needs to be told again.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from sayso.approvals import Approval
from sayso.console.api.approvals import ApprovalShelf
from sayso.console.api.door import Door, is_within
from sayso.console.api.problem import ProblemError
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.events import Pulse
from sayso.guard import Guard

_LOOK_SECONDS: Final = 0.2
_MOST: Final = 500
"""Questions that a screen is told of at a time; the others come when these are settled."""
EACH: Final = 20
"""Streams that one person may have open in a process. Each looks a few times a second how things
stand and whether it still may, so without an end to them one person could keep a gateway busy."""


class _Waiting:
    """What waits, looked up for all screens together: at most a few times a second."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._looked = float("-inf")
        self._found: dict[int, Approval] = {}
        self._lock = asyncio.Lock()

    async def now(self) -> dict[int, Approval]:
        """The questions that wait, by number, as of a fifth of a second ago at most."""
        async with self._lock:
            if time.monotonic() - self._looked >= _LOOK_SECONDS:
                found = await self._guard.approvals.pending(_MOST)
                self._found = {approval.number: approval for approval in found}
                self._looked = time.monotonic()
            return self._found


class _Counted(StreamingResponse):
    """A stream that counts as its person's for as long as it is open."""

    def __init__(self, told: AsyncGenerator[str], open_: Counter[str], person: str) -> None:
        # A proxy that gathers an answer before it passes it on would hold the questions back.
        unheld = {"X-Accel-Buffering": "no"}
        super().__init__(told, media_type="text/event-stream", headers=unheld)
        self._open = open_
        self._person = person

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._open[self._person] += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._open[self._person] -= 1
            if not self._open[self._person]:
                del self._open[self._person]


class Stream:
    """Tells each screen what waits, for as long as its visitor may look."""

    def __init__(self, guard: Guard, door: Door, shelf: ApprovalShelf, pulse: Pulse) -> None:
        self._guard = guard
        self._waiting = _Waiting(guard)
        self._door = door
        self._shelf = shelf
        self._pulse = pulse
        self._open = Counter[str]()

    async def listen(self, request: Request) -> Response:
        """The stream."""
        session = (await self._door.enter(request)).within(Role.VIEWER)
        if self._open[session.person] >= EACH:
            what = f"You have {EACH} of these open already. Close one first."
            raise ProblemError(429, "streams", what, headers={"Retry-After": "10"})

        async def is_open() -> bool:
            return await is_within(self._door, request, Role.VIEWER)

        return _Counted(self._told(session, is_open), self._open, session.person)

    async def _told(
        self, session: Session, is_open: Callable[[], Awaitable[bool]]
    ) -> AsyncGenerator[str]:
        known = dict[int, Approval]()
        at = -1
        async for beat in self._pulse.beats(session.expires):
            if not await is_open():
                return
            is_first = at < 0
            at = at if beat is None else beat.records
            now = await self._waiting.now()
            for name, approval in await self._changes(known, now):
                yield _event(name, at, self._shelf.shape(approval, session))
            if is_first:
                yield _event("ready", at, {"open": [*now]})
            elif beat is None:
                yield "event: beat\ndata: {}\n\n"
            known = now

    async def _changes(
        self, known: Mapping[int, Approval], now: Mapping[int, Approval]
    ) -> list[tuple[str, Approval]]:
        gone = [await self._guard.approvals.find(number) for number in known if number not in now]
        told = [("settled", approval) for approval in gone if approval is not None]
        return told + [
            ("asked", approval)
            for number, approval in now.items()
            if number not in known or known[number].edit != approval.edit
        ]


def _event(name: str, at: int, value: Any) -> str:
    """One event; its id is the newest line of the log when it was told."""
    return f"id: {at}\nevent: {name}\ndata: {json.dumps(value)}\n\n"
