"""The response to a POST: JSON, or an event stream if other messages come before the response."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from starlette.types import Send

from sayso.alarm import Alarm
from sayso.connect import in_one_line

_MAX_WAITING: Final = 256
_MAX_WAITING_BYTES: Final = 4 * 1024 * 1024
"""The maximum number and size of messages that wait for one client; more are dropped."""


@dataclass(slots=True)
class Outbox:
    """A queue of messages to one client, so that a slow client does not delay others."""

    send: Callable[[bytes], Awaitable[None]]
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _waiting: deque[bytes] = field(default_factory=deque[bytes])
    _size: int = 0
    _sending: "asyncio.Task[None] | None" = None

    async def say(self, body: bytes) -> None:
        async with self.turn():
            await self.send(body)

    def tell(self, body: bytes) -> None:
        """Send a message without waiting; drop it if the client reads too slowly."""
        if len(self._waiting) >= _MAX_WAITING or self._size > _MAX_WAITING_BYTES:
            return
        self._waiting.append(body)
        self._size += len(body)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.ensure_future(self._send_waiting())

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        async with self._turn:
            while self._waiting:
                body = self._waiting.popleft()
                self._size -= len(body)
                await self.send(body)
            yield

    async def _send_waiting(self) -> None:
        # If the client has left, sending the response detects that.
        with contextlib.suppress(OSError):
            async with self.turn():
                pass


PATIENCE_SECONDS: Final = 0.2
"""The time after which a request starts to watch its client and to send pings."""

PING_SECONDS: Final = 15.0
"""The interval of pings on a silent stream, which proxies would close otherwise."""

PING: Final = b": ping\n\n"

Header = tuple[bytes, bytes]

EVENT_HEADERS: Final[Sequence[Header]] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
_JSON: Final = (b"content-type", b"application/json")


def as_event(body: bytes) -> bytes:
    """Return a message as a server-sent event."""
    return b"event: message\ndata: " + in_one_line(body) + b"\n\n"


class Reply:
    """The response to a request. A client that accepts only JSON gets only the response."""

    def __init__(self, send: Send, *, takes_events: bool, headers: Sequence[Header] = ()) -> None:
        self._send = send
        self._takes_events = takes_events
        self._headers = headers
        self._outbox: Outbox | None = None
        self.is_stream = False
        self.is_over = False

    async def say(self, body: bytes) -> bool:
        """Send a message before the response; return whether the client accepts it."""
        if not self._takes_events or self.is_over:
            return False
        await self._begun().say(body)
        return True

    def tell(self, body: bytes) -> bool:
        """Send or drop a message without waiting; return whether the client accepts messages."""
        if not self._takes_events or self.is_over:
            return False
        self._begun().tell(body)
        return True

    async def finish(self, body: bytes, status: int = 200) -> None:
        self.is_over = True
        if self._outbox is not None:
            async with self._outbox.turn():
                await self._open()
                await self._piece(as_event(body), more=False)
            return
        length = (b"content-length", str(len(body)).encode())
        headers = [_JSON, length, *self._headers]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._piece(body, more=False)

    async def end(self) -> None:
        self.is_over = True
        async with self._begun().turn():
            await self._open()
            await self._piece(b"", more=False)

    async def ping(self) -> None:
        if self._takes_events and not self.is_over:
            async with self._begun().turn():
                await self._open()
                await self._piece(PING, more=True)

    async def _event(self, body: bytes) -> None:
        await self._open()
        await self._piece(as_event(body), more=True)

    def _begun(self) -> Outbox:
        if self._outbox is None:
            self._outbox = Outbox(self._event)
        return self._outbox

    async def _open(self) -> None:
        if not self.is_stream:
            self.is_stream = True
            headers = [*EVENT_HEADERS, *self._headers]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})

    async def _piece(self, body: bytes, *, more: bool) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": more})


async def watched(
    work: Callable[[], Awaitable[None]],
    reply: Reply,
    left: Callable[[], Awaitable[None]],
    patience: Alarm,
    gone: Callable[[], None] = lambda: None,
) -> None:
    """Do `work` and send pings meanwhile; call `gone` if the client leaves before `work` ends.

    `left` waits until the client leaves. Watching starts after `patience`: most work ends earlier.
    """
    watcher: asyncio.Task[None] | None = None

    def start() -> None:
        nonlocal watcher
        watcher = asyncio.ensure_future(_watch(reply, left, gone))

    late = patience.call(start)
    try:
        await work()
    finally:
        patience.forget(late)
        if watcher is not None:
            watcher.cancel()


async def _watch(
    reply: Reply, left: Callable[[], Awaitable[None]], gone: Callable[[], None]
) -> None:
    leaving = asyncio.ensure_future(left())
    try:
        while not (await asyncio.wait([leaving], timeout=PING_SECONDS))[0]:
            await reply.ping()
        gone()
    finally:
        leaving.cancel()
