"""Graceful shutdown: running calls get time to finish; the rest are cancelled and answered."""

import asyncio
import math
import signal
import socket
from collections.abc import Set as AbstractSet
from types import FrameType
from typing import Any, Final

import anyio
import uvicorn
from typing_extensions import override

from sayso.beside import beside
from sayso.gateway import PacedProtocol
from sayso.guard import Shutdown

PAUSE_SECONDS: Final = 3.0
"""Requests are still accepted for this long after `/readyz` fails, until balancers notice it."""

TELL_SECONDS: Final = 2.0
"""The time in which cancelled calls record their outcome and answer."""

INTERRUPT_SECONDS: Final = 3.0
"""The time that running calls get after Ctrl-C."""

_CLOSE: Final = (b"connection", b"close")


def server_config(app: Any, **more: Any) -> uvicorn.Config:
    """Return uvicorn's configuration for sayso's servers."""
    return uvicorn.Config(
        app,
        http=PacedProtocol,
        ws="none",
        log_config=None,  # its messages go to sayso's log, in its format
        log_level="warning",
        proxy_headers=False,
        **more,
    )


class DrainedServer(uvicorn.Server):
    """A server whose calls may run for `seconds` after a signal; a second signal stops it."""

    def __init__(self, app: Any, shutdown: Shutdown, seconds: float) -> None:
        limit = math.ceil(max(seconds, INTERRUPT_SECONDS) + TELL_SECONDS) + 1
        super().__init__(server_config(app, access_log=False, timeout_graceful_shutdown=limit))
        self._shutdown = shutdown
        self._seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop_requested = asyncio.Event()
        self._drained = asyncio.Event()

    @override
    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal comes, or `stop` is called."""
        self._loop = asyncio.get_running_loop()
        async with beside(self._drain):
            await super().serve(sockets)

    @override
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal; uvicorn raises the signal again after the server has ended."""
        if self._stop_requested.is_set() or self._loop is None:
            self.should_exit = self.force_exit = True
            # Make uvicorn raise SIGINT in the end, because the shutdown is not graceful.
            self._captured_signals[:] = [signal.SIGINT]
            return
        self._captured_signals.append(sig)
        if sig == signal.SIGINT:
            self._seconds = min(self._seconds, INTERRUPT_SECONDS)
        self._loop.call_soon_threadsafe(self._stop_requested.set)

    @override
    async def on_tick(self, counter: int) -> bool:
        """Add `Connection: close` to each response once a shutdown has begun."""
        is_over = await super().on_tick(counter)
        if self._shutdown.is_near and _CLOSE not in self.server_state.default_headers:
            self.server_state.default_headers = [*self.server_state.default_headers, _CLOSE]
        return is_over

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all requests and calls while the store is still open to record them."""
        await super().shutdown(sockets)
        if self.force_exit:
            await self._give_up()
        elif self._stop_requested.is_set():
            await self._drained.wait()

    def stop(self) -> None:
        """Begin a graceful shutdown."""
        self._stop_requested.set()

    async def _drain(self) -> None:
        await self._stop_requested.wait()
        self._shutdown.is_near = True
        if self._shutdown.is_watched:
            await anyio.sleep(PAUSE_SECONDS)
        self._shutdown.begin()
        self.should_exit = True
        await self._answered(self._seconds)
        await self._give_up()

    async def _give_up(self) -> None:
        given_up = self._running()
        self._shutdown.give_up()
        await self._answered(TELL_SECONDS, given_up)
        for task in [*self.server_state.tasks]:
            task.cancel()
        await self._answered(TELL_SECONDS)
        self._drained.set()

    def _running(self) -> set[asyncio.Task[object]]:
        """Return the calls that wait for a server's response; some belong to no HTTP request."""
        return {task for task in self._shutdown.tasks if task is not None}

    async def _answered(
        self, seconds: float, given_up: AbstractSet[asyncio.Task[object]] = frozenset()
    ) -> None:
        """Wait at most `seconds` for all requests and calls to end."""
        with anyio.move_on_after(seconds):
            while open_ := {
                task
                for task in (*self.server_state.tasks, *self._running(), *given_up)
                if not task.done()
            }:
                await asyncio.wait(open_)
