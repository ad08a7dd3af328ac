"""Ending in order: calls that run get their time, and whoever is still waiting then is told."""

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
"""How long requests are still taken after `/readyz` has said no: balancers ask now and then."""

TELL_SECONDS: Final = 2.0
"""How long calls that were given up may take to write that down and to answer."""

INTERRUPT_SECONDS: Final = 3.0
"""How long calls may run on when a person at the terminal ends sayso."""

_CLOSE: Final = (b"connection", b"close")


def server_config(app: Any, **more: Any) -> uvicorn.Config:
    """Return how sayso's servers run."""
    return uvicorn.Config(
        app,
        http=PacedProtocol,
        # Nothing here speaks WebSocket.
        ws="none",
        # Its lines go where sayso's go, in the same form.
        log_config=None,
        log_level="warning",
        proxy_headers=False,
        **more,
    )


class DrainedServer(uvicorn.Server):
    """A server that ends by steps: calls may run on for `seconds`; a second signal ends it."""

    def __init__(self, app: Any, shutdown: Shutdown, seconds: float) -> None:
        limit = math.ceil(max(seconds, INTERRUPT_SECONDS) + TELL_SECONDS) + 1
        super().__init__(server_config(app, access_log=False, timeout_graceful_shutdown=limit))
        self._shutdown = shutdown
        self._seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked = asyncio.Event()
        self._drained = asyncio.Event()

    @override
    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal comes, or `stop` is called."""
        self._loop = asyncio.get_running_loop()
        async with beside(self._drain):
            await super().serve(sockets)

    @override
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal; uvicorn raises it again when it has ended."""
        if self._asked.is_set() or self._loop is None:
            self.should_exit = self.force_exit = True
            # Raised when the server has ended, in place of the first: this was no end in order.
            self._captured_signals[:] = [signal.SIGINT]
            return
        self._captured_signals.append(sig)
        if sig == signal.SIGINT:
            self._seconds = min(self._seconds, INTERRUPT_SECONDS)
        self._loop.call_soon_threadsafe(self._asked.set)

    @override
    async def on_tick(self, counter: int) -> bool:
        """Once the end is near, say so with each answer: who keeps connections lets go of them."""
        is_over = await super().on_tick(counter)
        if self._shutdown.is_near and _CLOSE not in self.server_state.default_headers:
            self.server_state.default_headers = [*self.server_state.default_headers, _CLOSE]
        return is_over

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End requests, and calls outside of one, while the store can still record that."""
        await super().shutdown(sockets)
        if self.force_exit:
            await self._give_up()
        elif self._asked.is_set():
            await self._drained.wait()

    def stop(self) -> None:
        """Begin to end."""
        self._asked.set()

    async def _drain(self) -> None:
        await self._asked.wait()
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
        """The calls that wait for a server's answer: not all belong to a request."""
        return {task for task in self._shutdown.tasks if task is not None}

    async def _answered(
        self, seconds: float, given_up: AbstractSet[asyncio.Task[object]] = frozenset()
    ) -> None:
        """Wait for all requests to be answered, but so long at most; and for calls beside them."""
        with anyio.move_on_after(seconds):
            while open_ := {
                task
                for task in (*self.server_state.tasks, *self._running(), *given_up)
                if not task.done()
            }:
                await asyncio.wait(open_)
