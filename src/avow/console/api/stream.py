"""Questions as they come and go, told to screens (server-sent events, HTML standard 9.2).

A screen is first told of all that wait, then `ready` with their numbers: what it still shows and
is not among them was settled while it did not listen. So nothing needs to be told again.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from avow.approvals import Approval
from avow.console.api.approvals import ApprovalShelf
from avow.console.api.door import Door, is_within
from avow.console.entry.login import Session
from avow.console.entry.roles import Role
from avow.console.events import Pulse
from avow.guard import Guard

_LOOK_SECONDS: Final = 0.2
_MOST: Final = 500
"""Questions that a screen is told of at a time; the others come when these are settled."""


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
                self._found = {one.number: one for one in found}
                self._looked = time.monotonic()
            return self._found


class Stream:
    """Tells each screen what waits, for as long as its visitor may look."""

    def __init__(self, guard: Guard, door: Door, shelf: ApprovalShelf, pulse: Pulse) -> None:
        self._guard = guard
        self._waiting = _Waiting(guard)
        self._door = door
        self._shelf = shelf
        self._pulse = pulse

    async def listen(self, request: Request) -> Response:
        """The stream."""
        session = (await self._door.enter(request)).within(Role.VIEWER)

        async def is_open() -> bool:
            return await is_within(self._door, request, Role.VIEWER)

        told = self._told(session, is_open)
        # A proxy that gathers an answer before it passes it on would hold the questions back.
        unheld = {"X-Accel-Buffering": "no"}
        return StreamingResponse(told, media_type="text/event-stream", headers=unheld)

    async def _told(
        self, session: Session, is_open: Callable[[], Awaitable[bool]]
    ) -> AsyncGenerator[str]:
        known, at = dict[int, Approval](), -1
        async for beat in self._pulse.beats(session.expires):
            if not await is_open():
                return
            is_first, at = at < 0, at if beat is None else beat.records
            now = await self._waiting.now()
            for name, one in await self._changes(known, now):
                yield _event(name, at, self._shelf.shape(one, session))
            if is_first:
                yield _event("ready", at, {"open": [*now]})
            elif beat is None:
                yield "event: beat\ndata: {}\n\n"
            known = now

    async def _changes(
        self, known: Mapping[int, Approval], now: Mapping[int, Approval]
    ) -> list[tuple[str, Approval]]:
        """What to tell a screen that knows these questions."""
        gone = [await self._guard.approvals.find(one) for one in known if one not in now]
        told = [("settled", one) for one in gone if one is not None]
        return told + [
            ("asked", one)
            for number, one in now.items()
            if number not in known or known[number].edit != one.edit
        ]


def _event(name: str, at: int, value: Any) -> str:
    """One event; its id is the newest line of the log when it was told."""
    return f"id: {at}\nevent: {name}\ndata: {json.dumps(value)}\n\n"
