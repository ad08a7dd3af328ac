"""A Unix socket that gives login links to this user's terminals, but not to MCP clients.

A request is one line of JSON: `{"want": "about"}` or `{"want": "link"}`. The answer is one line of
JSON too.
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
    """A gateway's description of itself, for the sayso commands of the same user.

    `address` is the console's URL. `client` is the program that started the gateway over stdio.
    `started` is in Unix seconds.
    """

    address: str
    servers: tuple[str, ...]
    started: float
    client: str | None = None
    pid: int = field(default_factory=os.getpid)

    def to_dict(self) -> dict[str, Any]:
        return {
            "pid": self.pid,
            "address": self.address,
            "servers": list(self.servers),
            "client": self.client,
            "started": self.started,
        }


@dataclass(slots=True)
class LinkServer:
    """Serves the socket.

    `link` makes a login link; the attribute is `None` where people log in with accounts. `refresh`
    updates `clients`, the processes that get no link.
    """

    about: About
    link: Callable[[], str] | None
    clients: Clients
    refresh: Callable[[], None] = lambda: None
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONNECTIONS))

    async def run(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            while True:
                await self._slots.acquire()
                try:
                    connection, _ = await loop.sock_accept(listener)
                except OSError:
                    # Probably no file descriptor is left: try again later.
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
            return _refused("this system does not identify the requesting process")
        try:
            if peer.uid != os.getuid():
                return _refused("the requesting process runs as another user")
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
            _log.warning("did not give process %d a link to the console: %s", peer.pid, refusal)
            return _refused(refusal)
        return {"address": self.about.address, "link": self.link()}

    def _refusal(self, peer: Peer) -> str | None:
        try:
            self.refresh()
            refusal = self.clients.refusal(peer.pid)
        except Exception:  # noqa: BLE001 - the gateway must continue
            _log.exception("the processes of this machine cannot be read")
            return "the processes of this machine cannot be read"
        # Checked last: if the process still runs, the checks above were about it and not about a
        # later process with the same pid.
        return "the requesting process has ended" if peer.is_gone else refusal


def _refused(why: str) -> dict[str, Any]:
    return {"refused": why}


async def _read_line(connection: socket.socket) -> bytes:
    """Read one line. Raises `ValueError` if it is too long or the connection ends before."""
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
    """Serve this process's socket; log a warning if there is no folder for it."""
    try:
        listener, path = listen(private_folder())
    except OSError:
        _log.warning("no private runtime folder, so sayso console cannot find this gateway")
        yield
        return
    try:
        with listener:
            async with beside(partial(server.run, listener)):
                yield
    finally:
        path.unlink(missing_ok=True)
