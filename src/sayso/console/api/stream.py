"""Changes of questions as server-sent events (HTML standard 9.2), for screens.

A stream begins with all pending questions, then `ready` with their numbers. If a screen still shows
other questions, they were settled while the screen was disconnected. So no event need be repeated.
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
from sayso.console.api.approvals import ApprovalEndpoints
from sayso.console.api.authentication import Authentication, has_role
from sayso.console.api.problem import ProblemError
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.events import Pulse
from sayso.guard import Guard

_LOOK_SECONDS: Final = 0.2
_MOST: Final = 500
"""The limit of questions that a screen gets at a time. More follow when these are settled."""
EACH: Final = 20
"""The limit of open streams per person and process, since each polls a few times a second."""


class _Waiting:
    """The pending questions, queried for all screens together, a few times a second."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._looked = float("-inf")
        self._found: dict[int, Approval] = {}
        self._lock = asyncio.Lock()

    async def now(self) -> dict[int, Approval]:
        """Return the pending questions by number, at most a fifth of a second old."""
        async with self._lock:
            if time.monotonic() - self._looked >= _LOOK_SECONDS:
                found = await self._guard.approvals.pending(_MOST)
                self._found = {approval.number: approval for approval in found}
                self._looked = time.monotonic()
            return self._found


class _Counted(StreamingResponse):
    """A stream that counts towards its person's limit while it is open."""

    def __init__(self, events: AsyncGenerator[str], open_: Counter[str], person: str) -> None:
        # Disable buffering in a proxy, which would delay the events.
        headers = {"X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
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
    """Sends each screen the pending questions while its visitor may see them."""

    def __init__(
        self,
        guard: Guard,
        authentication: Authentication,
        approvals: ApprovalEndpoints,
        pulse: Pulse,
    ) -> None:
        self._guard = guard
        self._waiting = _Waiting(guard)
        self._authentication = authentication
        self._approvals = approvals
        self._pulse = pulse
        self._open = Counter[str]()

    async def listen(self, request: Request) -> Response:
        session = (await self._authentication.authenticate(request)).require(Role.VIEWER)
        if self._open[session.person] >= EACH:
            what = f"You already have {EACH} streams open. Close one first."
            raise ProblemError(429, "streams", what, headers={"Retry-After": "10"})

        async def is_open() -> bool:
            return await has_role(self._authentication, request, Role.VIEWER)

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
                yield _event(name, at, self._approvals.shape(approval, session))
            if is_first:
                yield _event("ready", at, {"open": [*now]})
            elif beat is None:
                yield "event: beat\ndata: {}\n\n"
            known = now

    async def _changes(
        self, known: Mapping[int, Approval], now: Mapping[int, Approval]
    ) -> list[tuple[str, Approval]]:
        gone = [await self._guard.approvals.find(number) for number in known if number not in now]
        settled = [("settled", approval) for approval in gone if approval is not None]
        return settled + [
            ("asked", approval)
            for number, approval in now.items()
            if number not in known or known[number].edit != approval.edit
        ]


def _event(name: str, at: int, value: Any) -> str:
    return f"id: {at}\nevent: {name}\ndata: {json.dumps(value)}\n\n"
