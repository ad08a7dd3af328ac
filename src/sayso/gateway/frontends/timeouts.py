"""Timeouts for clients that send a request or read its response too slowly.

Without them, uvicorn waits forever for the rest of a request, accepts a head of any length, and
keeps a response until it is read. An unauthenticated client could use up connections and memory.
"""

import asyncio
from typing import Final

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS: Final = 15.0
"""The time limit for a request's head, from the start of the connection or from its first byte."""

BODY_SECONDS: Final = 60.0
"""The time limit for the body, enough for the largest request at 70 KB/s."""

TAKE_SECONDS: Final = 60.0
"""The time limit for a client to read some of the waiting data."""

LINGER_SECONDS: Final = 0.3
"""The time that an ending connection is still read. Without it, a client whose request arrives just
then would not learn that nothing was run."""

MAX_HEAD_BYTES: Final = 64 * 1024
"""The maximum size of a head, with room for long session and access tokens."""

_LATE: Final = b"408 Request Timeout"
_LONG: Final = b"431 Request Header Fields Too Large"


class PacedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with timeouts.

    A request that arrives in one piece, as most do, starts no timer.
    """

    _is_in_head = True
    _is_arriving = True
    _has_taken = False
    _is_refused = False
    _size = 0
    _arrival: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as uvicorn has it
        super().connection_made(transport)
        self._wait(HEAD_SECONDS)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop()
        if self._taking is not None:
            self._taking.cancel()

    @override
    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        was_in_head = self._is_in_head
        super().data_received(data)
        if not self._is_arriving and not self._is_answering:
            # Data that arrives between two requests begins the next request, even a blank line.
            self._is_in_head = self._is_arriving = self.timeout_keep_alive_task is None
        if not self._is_arriving:
            self._stop()
        elif self._is_in_head:
            self._size += len(data)
            if self._size > MAX_HEAD_BYTES:
                self._refuse(_LONG)
            elif self._arrival is None:
                self._wait(HEAD_SECONDS)
        elif was_in_head or self._arrival is None:
            self._wait(BODY_SECONDS)

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = self._is_arriving = True

    @override
    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._size = 0
        super().on_headers_complete()

    @override
    def on_message_complete(self) -> None:
        self._is_arriving = False
        super().on_message_complete()

    @override
    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch_taking()

    @override
    def shutdown(self) -> None:
        """End after the current response, or a moment later if there is no response."""
        if self._is_answering:
            super().shutdown()
        else:
            self.loop.call_later(LINGER_SECONDS, super().shutdown)

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_taking()

    @override
    def resume_writing(self) -> None:
        super().resume_writing()
        self._has_taken = True

    def _wait(self, seconds: float) -> None:
        self._stop()
        self._arrival = self.loop.call_later(seconds, self._late, seconds)

    def _stop(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None

    def _late(self, seconds: float) -> None:
        if self._is_answering:
            # Only the next, pipelined request is late. The current request still gets its answer.
            self._wait(seconds)
        else:
            self._refuse(_LATE)

    @property
    def _is_answering(self) -> bool:
        cycle = self.cycle
        is_last = cycle is not None and not cycle.more_body and not cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison] - it is None before the first request
        return is_last or bool(self.pipeline)

    def _refuse(self, status: bytes) -> None:
        self._stop()
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:  # pyright: ignore[reportUnnecessaryComparison] - as above
            head = b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            self.transport.write(head)
        # Read and drop further data: with unread data the kernel resets the connection too early.
        self._is_refused = True
        self.flow.resume_reading()
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def _watch_taking(self) -> None:
        left = self.transport.get_write_buffer_size()
        if left and self._taking is None:
            self._has_taken = False
            self._taking = self.loop.call_later(TAKE_SECONDS, self._look_at_taking, left)

    def _look_at_taking(self, before: int) -> None:
        self._taking = None
        if self._has_taken or self.transport.get_write_buffer_size() < before:
            self._watch_taking()
        else:
            self.transport.abort()
