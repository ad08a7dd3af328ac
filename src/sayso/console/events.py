"""Change notifications for open pages (server-sent events, HTML standard 9.2).

A page fetches its content after each notification. So a page that misses a notification is up to
date after the next one.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from sayso.console.entry.login import Session
from sayso.console.pages import Pages
from sayso.guard import Guard

_LOOK_SECONDS: Final = 0.25
_PING_SECONDS: Final = 3.0


class Beat(NamedTuple):
    """The state that pages follow: the number of pending questions, and of the newest record."""

    questions: int
    records: int


class Pulse:
    """Polls the store for all open pages together, a few times a second while a page is open."""

    def __init__(self, guard: Guard, clock: Callable[[], float] = time.monotonic) -> None:
        self._guard = guard
        self._clock = clock
        self._looked = float("-inf")
        self._beat = Beat(0, 0)
        self._lock = asyncio.Lock()
        self._over = asyncio.Event()
        guard.shutdown.on_begin(self._over.set)

    async def beat(self) -> Beat:
        async with self._lock:
            if self._clock() - self._looked >= _LOOK_SECONDS:
                newest = await self._guard.audit.newest(limit=1)
                questions = self._guard.approvals.questions
                waiting = await questions.count_pending(now=self._guard.clock())
                self._beat = Beat(waiting, max((row.seq for row in newest), default=0))
                self._looked = self._clock()
            return self._beat

    async def beats(self, until: float) -> AsyncGenerator[Beat | None]:
        """Yield each new beat, and `None` as a keep-alive, to the process's end or time `until`."""
        last = None
        sent = self._clock()
        while not self._over.is_set() and self._guard.clock() < until:
            beat = await self.beat()
            if beat != last or self._clock() - sent > _PING_SECONDS:
                yield beat if beat != last else None
                last = beat
                sent = self._clock()
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._over.wait()
            except TimeoutError:
                continue


def event_routes(pages: Pages, pulse: Pulse) -> list[Route]:
    """Return the route of the event stream. A stream ends when its page's session ends."""

    async def listen(request: Request, session: Session) -> Response:
        async def is_open() -> bool:
            return await pages.session_of(request) is not None

        events = _events(pulse, session.expires, is_open)
        return StreamingResponse(events, media_type="text/event-stream")

    return [Route("/events", pages.shown(listen))]


async def _events(
    pulse: Pulse, until: float, is_open: Callable[[], Awaitable[bool]]
) -> AsyncGenerator[str]:
    last: Beat | None = None
    async for beat in pulse.beats(until):
        if not await is_open():
            return
        if beat is None:
            yield "event: beat\ndata:\n\n"
            continue
        for name, value in beat._asdict().items():
            if last is None or value != getattr(last, name):
                yield f"event: {name}\ndata: {value}\n\n"
        last = beat
