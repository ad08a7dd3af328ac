"""The answer to one POST: JSON if it comes alone, a stream if messages come before it."""

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

_MOST: Final = 256
_MOST_BYTES: Final = 4 * 1024 * 1024
"""What waits for a client to read; what comes beyond that is left out."""


@dataclass(slots=True)
class Outbox:
    """Sends by `send`, which may take as long as the client does; a slow client delays no other."""

    send: Callable[[bytes], Awaitable[None]]
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _waiting: deque[bytes] = field(default_factory=deque[bytes])
    _size: int = 0
    _sending: "asyncio.Task[None] | None" = None

    async def say(self, body: bytes) -> None:
        async with self.turn():
            await self.send(body)

    def tell(self, body: bytes) -> None:
        """Send a message without waiting; it is dropped if the client does not keep up."""
        if len(self._waiting) >= _MOST or self._size > _MOST_BYTES:
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
        # A client that has gone hears nothing; whoever answers it notices.
        with contextlib.suppress(OSError):
            async with self.turn():
                pass


PATIENCE_SECONDS: Final = 0.2
"""How long a request may take before its client is watched and its stream kept alive."""

PING_SECONDS: Final = 15.0
"""How often a stream on which nothing is said shows that it lives: proxies close silent ones."""

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
    """The answer to a request. A client that takes only JSON gets the response alone."""

    def __init__(self, send: Send, *, takes_events: bool, headers: Sequence[Header] = ()) -> None:
        self._send = send
        self._takes_events = takes_events
        self._headers = headers
        self._outbox: Outbox | None = None
        self.is_stream = False
        self.is_over = False

    async def say(self, body: bytes) -> bool:
        """Send a message that is not the response; return whether that was possible."""
        if not self._takes_events or self.is_over:
            return False
        await self._begun().say(body)
        return True

    def tell(self, body: bytes) -> bool:
        """Send a message without waiting; it may be dropped."""
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
        """Return the outbox of a stream, which most answers never need."""
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


def _nothing() -> None:
    """Take no notice of a client that leaves."""


async def watched(
    work: Callable[[], Awaitable[None]],
    reply: Reply,
    left: Callable[[], Awaitable[None]],
    patience: Alarm,
    gone: Callable[[], None] = _nothing,
) -> None:
    """Do `work` and keep its stream alive; call `gone` if the client leaves before it is done.

    Watching starts after `patience`: most work is over before.
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
