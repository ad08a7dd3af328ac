"""Restarts of the process behind a stdio client.

The SDK's client ends with its process and cannot be entered again, so a copy replaces it. Each copy
has its own task, because a client must be entered and left by the same task.
"""

import dataclasses
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, StdioServerParameters

from sayso.beside import beside
from sayso.errors import ServerExitedError

START_SECONDS: Final = 30.0

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class _Start:
    """The start of one client, which `is_done` if it succeeded or failed. `is_over`: must end."""

    is_done: anyio.Event = field(default_factory=anyio.Event)
    is_over: anyio.Event = field(default_factory=anyio.Event)
    client: Client | None = None


@dataclass(slots=True)
class Restarter:
    """Starts new clients with the parameters of the first one."""

    first: Client
    _starts: MemoryObjectSendStream[_Start]
    _current: _Start | None = None

    async def restart(self) -> Client:
        """Start the server again, leave the previous client and return the new one.

        Raises `ServerExitedError` if the server does not start within 30 seconds. Cancelling this
        ends the start.
        """
        if self._current is not None:
            self._current.is_over.set()
        start = self._current = _Start()
        await self._starts.send(start)
        try:
            with anyio.move_on_after(START_SECONDS):
                await start.is_done.wait()
        finally:
            if start.client is None:
                start.is_over.set()
        if start.client is None:
            raise ServerExitedError("the server's process ended and could not be restarted")
        return start.client


@asynccontextmanager
async def open_restarter(client: Client) -> AsyncGenerator[Restarter | None]:
    """Yield a restarter for a client of a stdio server, or `None` for any other client.

    On exit, all clients that the restarter started are left too.
    """
    if not isinstance(client.server, StdioServerParameters):
        yield None
        return
    send, receive = anyio.create_memory_object_stream[_Start](1)

    async def run() -> None:
        await _run_starts(client, receive)

    with send, receive:
        async with beside(run):
            yield Restarter(client, send)


async def _run_starts(first: Client, starts: MemoryObjectReceiveStream[_Start]) -> None:
    async with anyio.create_task_group() as group:
        async for start in starts:
            group.start_soon(_hold, first, start)


async def _hold(first: Client, start: _Start) -> None:
    async def leave_when_over(scope: anyio.CancelScope) -> None:
        await start.is_over.wait()
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(leave_when_over, group.cancel_scope)
        try:
            async with dataclasses.replace(first) as client:
                start.client = client
                start.is_done.set()
                await anyio.sleep_forever()
        except Exception:  # noqa: BLE001 - the caller of `restart` gets its own error
            _log.debug("a restarted server ended", exc_info=True)
        finally:
            start.is_done.set()
            group.cancel_scope.cancel()
