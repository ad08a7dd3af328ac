"""Requests between processes: each opens a connection, sends one line and receives one line."""

import asyncio
import contextlib
import logging
import secrets
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from sayso.beside import beside
from sayso.errors import SealError, StoreError
from sayso.gateway.replicas.presence import Presence
from sayso.keys import Keyring
from sayso.store import ReplicaRow, Replicas

AGE_SECONDS: Final = 60.0
"""The maximum age of a message, including the difference between two machines' clocks."""

_REQUEST: Final = "errand"
_REPLY: Final = "errand reply"


@dataclass(frozen=True, slots=True)
class ReplicaRequest:
    """A request to another process; its `number` is unique."""

    kind: str
    body: Any
    number: str = field(default_factory=lambda: secrets.token_hex(12))


@dataclass(slots=True)
class Envelopes:
    """Sealing and opening of requests and replies for the process `here`."""

    keys: Keyring
    here: str
    clock: Callable[[], float] = time.time
    _opened: dict[str, float] = field(default_factory=dict[str, float])

    def seal(self, request: ReplicaRequest, to: str) -> str:
        value = [request.kind, request.body, request.number, self.clock()]
        return self.keys.seal(_REQUEST, value, bound={"to": to})

    def open(self, text: str) -> ReplicaRequest:
        """Open a request. Raises `SealError` for invalid text, and for a repeated request."""
        kind, body, number, at = self.keys.open(_REQUEST, text, bound={"to": self.here})
        now = self.clock()
        if abs(now - at) > AGE_SECONDS:
            raise SealError("the message is too old, or two machines' clocks are too far apart")
        self._opened = {known: until for known, until in self._opened.items() if until > now}
        if number in self._opened:
            raise SealError("the message was opened before")
        # Remember the number until the request would be too old anyway.
        self._opened[number] = at + 2 * AGE_SECONDS
        return ReplicaRequest(kind, body, number)

    def seal_reply(self, request: ReplicaRequest, value: Any) -> str:
        return self.keys.seal(_REPLY, value, bound={"number": request.number})

    def open_reply(self, request: ReplicaRequest, text: str) -> Any:
        """Open the reply to this request. Raises `SealError` for invalid text or another reply."""
        return self.keys.open(_REPLY, text, bound={"number": request.number})


_SECONDS: Final = 5.0
_MAX_LINE_BYTES: Final = 16 * 1024 * 1024
"""The maximum size of a sealed line, enough for the largest request in hexadecimal."""
_MAX_AT_ONCE: Final = 64

_log: Final = logging.getLogger(__name__)

Handler = Callable[[Any], Awaitable[Any]]
"""The handler of one kind of request; it returns `None` if the request is for another process."""


class GoneError(Exception):
    """The process that a request is for has ended, or does not answer."""


@dataclass(slots=True)
class ReplicaClient:
    """A client for requests to the other processes, which also handles their requests.

    `name` is the name of this process. States that clients return contain it, so that any process
    can find this one. If `presence` is `None`, there are no other processes.
    """

    name: str = ""
    envelopes: Envelopes | None = None
    presence: Presence | None = None
    handlers: dict[str, Handler] = field(default_factory=dict[str, Handler])
    _turns: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(_MAX_AT_ONCE)
    )

    async def send(self, to: str, kind: str, body: Any, seconds: float = _SECONDS) -> Any:
        """Send a request to the process `to`, and return its reply.

        Raises `GoneError` if that process has ended or does not answer in time, or the store fails.
        """
        if self.envelopes is None or self.presence is None:
            raise GoneError(to)
        request = ReplicaRequest(kind, body)
        try:
            address = await self.presence.address_of(to)
            if address is None:
                raise GoneError(to)
            async with asyncio.timeout(seconds):
                reply = await _exchange(address, self.envelopes.seal(request, to))
            return self.envelopes.open_reply(request, reply)
        except (OSError, TimeoutError, ValueError, SealError, StoreError) as error:
            _log.warning("replica %s does not answer: %s", to, error or type(error).__name__)
            raise GoneError(to) from error

    async def send_all(self, kind: str, body: Any) -> list[Any]:
        """Send a request to all other processes, and return the replies that are not `None`."""
        if self.presence is None:
            return []
        replies: list[Any] = []

        async def ask(to: str) -> None:
            with contextlib.suppress(GoneError):
                reply = await self.send(to, kind, body)
                if reply is not None:
                    replies.append(reply)

        async with anyio.create_task_group() as group:
            for to in await self.presence.others():
                group.start_soon(ask, to)
        return replies

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle a connection. It may come from a program that is not part of the gateway."""
        try:
            async with asyncio.timeout(_SECONDS):
                line = await reader.readuntil()
            if self.envelopes is None:
                return
            async with self._turns:
                request = self.envelopes.open(line.decode("ascii").strip())
                handler = self.handlers.get(request.kind)
                reply = None if handler is None else await handler(request.body)
                writer.write(f"{self.envelopes.seal_reply(request, reply)}\n".encode())
                await writer.drain()
        except (SealError, ValueError) as error:
            # Send no answer to a connection without a valid seal.
            _log.warning("a message to this replica was refused: %s", error)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()


async def listen(replica_client: ReplicaClient, sock: Any) -> asyncio.Server:
    """Start a server that handles requests on a listening socket."""
    return await asyncio.start_server(replica_client.take, sock=sock, limit=_MAX_LINE_BYTES)


async def _exchange(address: str, line: str) -> str:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(
        host.strip("[]"), int(port), limit=_MAX_LINE_BYTES
    )
    try:
        writer.write(f"{line}\n".encode())
        await writer.drain()
        return (await reader.readuntil()).decode("ascii").strip()
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise ConnectionResetError("the process closed the connection without a reply") from error
    finally:
        writer.close()


@asynccontextmanager
async def open_replicas(
    replicas: Replicas, keys: Keyring, listener: socket.socket, host: str
) -> AsyncGenerator[ReplicaClient]:
    """Yield the replica client of a process at `host` and the port of `listener`.

    Raises `KeysError` if another process has other keys.
    """
    name = secrets.token_hex(6)
    port = listener.getsockname()[1]
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    presence = Presence(replicas, ReplicaRow(name, address, " ".join(keys.ids)))
    replica_client = ReplicaClient(name, Envelopes(keys, name), presence)
    await presence.join(keys)
    try:
        server = await listen(replica_client, listener)
        await presence.look()
        async with server, beside(presence.run):
            yield replica_client
    finally:
        with anyio.CancelScope(shield=True):
            await presence.leave()
