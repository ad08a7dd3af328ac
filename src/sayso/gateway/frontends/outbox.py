"""The messages to one client, sent one after another without holding up others."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

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
