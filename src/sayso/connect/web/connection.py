"""A client's HTTP/1.1 connection: one exchange at a time, and reused for the next one."""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, cast

import httptools

MOST_BYTES: Final = 64 * 1024 * 1024
"""Maximum of one body that is not a stream; results with pictures often exceed 1 MiB."""

_MOST_HEAD: Final = 64 * 1024
_FULL: Final = 256 * 1024
"""Buffered bytes at which reading pauses."""


class BrokenError(Exception):
    """A connection that broke before the answer was complete."""


class Reply:
    """The answer to one request: its head, and then its body piece by piece."""

    __slots__ = (
        "_buffered",
        "_error",
        "_pieces",
        "_resume",
        "_waiter",
        "headers",
        "is_whole",
        "status",
    )

    def __init__(self, resume: Callable[[], None]) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.is_whole = False
        self._pieces: deque[bytes] = deque()
        self._buffered = 0
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._resume = resume

    @property
    def is_full(self) -> bool:
        return self._buffered > _FULL

    async def head(self) -> None:
        """Wait for status and headers. Raises `BrokenError`."""
        while not self.status:
            await self._wait()

    async def piece(self) -> bytes:
        """Return the next piece of the body, empty at its end. Raises `BrokenError`."""
        while not self._pieces:
            if self.is_whole:
                return b""
            await self._wait()
        piece = self._pieces.popleft()
        self._buffered -= len(piece)
        self._resume()
        return piece

    async def body(self, limit: int = MOST_BYTES) -> bytes:
        """Return the whole body. Raises `BrokenError`, also if it has more than `limit` bytes."""
        pieces: list[bytes] = []
        size = 0
        while piece := await self.piece():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise BrokenError("an answer is too large")
        return b"".join(pieces)

    async def _wait(self) -> None:
        if self._error is not None:
            raise BrokenError(str(self._error)) from self._error
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def take(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._buffered += len(piece)
        self.wake()

    def fail(self, error: Exception) -> None:
        """End the reply with an error; received pieces can still be read."""
        if not self.is_whole:
            self._error = self._error or error
            self.wake()

    def wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Connection(asyncio.Protocol):
    """A connection for one exchange after the other; it calls `freed` when it is free.

    Without `freed` it is a tunnel through a proxy: one exchange opens it, then `secured` is called.
    """

    _transport: asyncio.Transport

    def __init__(self, freed: Callable[["Connection"], None] | None) -> None:
        self._freed = freed
        self._parser = httptools.HttpResponseParser(self)
        self._reply: Reply | None = None
        self._headers: dict[str, str] = {}
        self._head_size = 0
        self._is_paused = False
        self.idle_since = 0.0

    @property
    def is_open(self) -> bool:
        return not self._transport.is_closing()

    def send(self, *parts: bytes) -> Reply:
        """Send a request whose bytes are `parts`; the connection must be free."""
        self._parser = httptools.HttpResponseParser(self)
        self._headers = {}
        self._head_size = 0
        reply = self._reply = Reply(self._resume)
        self._transport.write(b"".join(parts))
        return reply

    def close(self) -> None:
        self._transport.abort()

    async def secured(self, inner: "Connection", context: ssl.SSLContext, host: str) -> None:
        """Continue as `inner`, with TLS inside this connection. Raises `OSError`."""
        loop = asyncio.get_running_loop()
        self._reply = None
        made = await loop.start_tls(self._transport, inner, context, server_hostname=host)
        inner.connection_made(cast("asyncio.Transport", made))

    def _resume(self) -> None:
        if self._is_paused and (self._reply is None or not self._reply.is_full):
            self._is_paused = False
            if self.is_open:
                self._transport.resume_reading()

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        reply = self._reply
        if reply is None:  # data without a request
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            reply.fail(BrokenError("the server wants another protocol"))
            self.close()
        except httptools.HttpParserError as error:
            # An error of this class, raised inside the parser, or an error of the parser.
            reply.fail(BrokenError(f"the answer is not HTTP: {error.__context__ or error}"))
            self.close()
        if not self._is_paused and reply.is_full:
            self._is_paused = True
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        reply = self._reply
        self._reply = None
        if reply is None:
            return
        is_by_end = not {"content-length", "transfer-encoding"} & reply.headers.keys()
        if exc is None and reply.status and is_by_end:
            reply.is_whole = True
            reply.wake()
        reply.fail(exc or BrokenError("the server closed the connection"))

    # Called by the parser; there is always a reply, except when another message begins.

    def on_message_begin(self) -> None:
        if self._reply is None:
            raise BrokenError("the answer goes on after its end")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value)
        if self._head_size > _MOST_HEAD:
            raise BrokenError("the head of the answer is too large")
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= HTTPStatus.OK:
            reply = cast("Reply", self._reply)
            reply.status = status
            reply.headers = self._headers
            reply.wake()

    def on_body(self, body: bytes) -> None:
        cast("Reply", self._reply).take(body)

    def on_message_complete(self) -> None:
        reply = cast("Reply", self._reply)
        if not reply.status:  # 100 Continue and the like: the answer follows
            self._headers = {}
            return
        if self._freed is None:  # a tunnel, which has no end (RFC 9110, section 9.3.6)
            return
        self._reply = None
        self._resume()
        reply.is_whole = True
        reply.wake()
        if self._parser.should_keep_alive():
            self._freed(self)
        else:
            self.close()
