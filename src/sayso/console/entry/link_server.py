"""Hands out login links over a Unix socket, to this user's own terminals and to no client.

A request is one line of JSON, `{"want": "about"}` or `{"want": "link"}`, and so is its answer.
"""

import asyncio
import json
import logging
import os
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from sayso.beside import beside
from sayso.console.entry.runtime import listen, private_folder
from sayso.processes import Clients, Peer, peer_of

MAX_REQUEST_BYTES: Final = 1024
REQUEST_SECONDS: Final = 5.0
MAX_CONNECTIONS: Final = 8

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class About:
    """What a gateway tells of itself to commands of the same user.

    `address` is that of its console, `client` the program that started it over stdio, and `started`
    a time in Unix seconds.
    """

    address: str
    servers: tuple[str, ...]
    started: float
    client: str | None = None
    pid: int = field(default_factory=os.getpid)

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "pid": self.pid,
            "address": self.address,
            "servers": list(self.servers),
            "client": self.client,
            "started": self.started,
        }


@dataclass(slots=True)
class LinkServer:
    """Answers the socket. `link` makes a login link, or is `None` where people have accounts."""

    about: About
    link: Callable[[], str] | None
    clients: Clients
    refresh: Callable[[], None] = lambda: None
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONNECTIONS))

    async def run(self, listener: socket.socket) -> None:
        """Accept connections until cancelled."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            while True:
                await self._slots.acquire()
                try:
                    connection, _ = await loop.sock_accept(listener)
                except OSError:
                    # No descriptor is left: calls go on, and the next try comes later.
                    self._slots.release()
                    await asyncio.sleep(REQUEST_SECONDS)
                    continue
                group.create_task(self._serve(connection))

    async def _serve(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            with connection, suppress(OSError, TimeoutError, ValueError):
                connection.settimeout(0)
                async with asyncio.timeout(REQUEST_SECONDS):
                    request = await _read_line(connection)
                    answer = await self._answer(connection, json.loads(request))
                    await loop.sock_sendall(connection, json.dumps(answer).encode() + b"\n")
        finally:
            self._slots.release()

    async def _answer(self, connection: socket.socket, request: Any) -> dict[str, Any]:
        peer = peer_of(connection)
        if peer is None:
            return _refused("this system does not say which process asks")
        try:
            if peer.uid != os.getuid():
                return _refused("it runs as another user")
            if request == {"want": "about"}:
                return {"about": self.about.to_dict()}
            if request != {"want": "link"}:
                return {"error": "the request is not understood"}
            return await self._hand_out(peer)
        finally:
            peer.close()

    async def _hand_out(self, peer: Peer) -> dict[str, Any]:
        if self.link is None:
            return {"address": self.about.address}
        refusal = await asyncio.to_thread(self._refusal, peer)
        if refusal is not None:
            _log.warning("process %d was refused a link to the console: %s", peer.pid, refusal)
            return _refused(refusal)
        return {"address": self.about.address, "link": self.link()}

    def _refusal(self, peer: Peer) -> str | None:
        try:
            self.refresh()
            refusal = self.clients.refusal(peer.pid)
        except Exception:  # noqa: BLE001 - whatever the system shows of its processes, the gateway goes on
            _log.exception("the processes of this machine cannot be read")
            return "the processes of this machine cannot be read"
        # Asked last: if it has not ended by now, its number was its own all the time.
        return "it has ended" if peer.is_gone else refusal


def _refused(why: str) -> dict[str, Any]:
    return {"refused": why}


async def _read_line(connection: socket.socket) -> bytes:
    """Read up to the first line break. Raises `ValueError` for a line that is too long."""
    loop = asyncio.get_running_loop()
    line = b""
    while not line.endswith(b"\n"):
        part = await loop.sock_recv(connection, MAX_REQUEST_BYTES)
        line += part
        if not part or len(line) > MAX_REQUEST_BYTES:
            raise ValueError("no request")
    return line


@asynccontextmanager
async def serving_links(server: LinkServer) -> AsyncGenerator[None]:
    """Serve the socket of this process. Without a place for it, a warning is logged."""
    try:
        listener, path = listen(private_folder())
    except OSError:
        _log.warning("sayso console will not find this gateway: there is no private runtime folder")
        yield
        return
    try:
        with listener:
            async with beside(partial(server.run, listener)):
                yield
    finally:
        path.unlink(missing_ok=True)
