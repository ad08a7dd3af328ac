"""Errands between processes: one line there, one line back, on a connection of its own."""

import asyncio
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
"""How far apart the clocks of two machines may be, with the time that a message takes."""

_ERRAND: Final = "request"
_REPLY: Final = "request reply"


@dataclass(frozen=True, slots=True)
class ReplicaRequest:
    """Something for another process to do; `number` is told of none other."""

    kind: str
    body: Any
    number: str = field(default_factory=lambda: secrets.token_hex(12))


@dataclass(slots=True)
class Envelopes:
    """Seals what goes out, and opens what comes in, for the process `here`."""

    keys: Keyring
    here: str
    clock: Callable[[], float] = time.time
    _seen: dict[str, float] = field(default_factory=dict[str, float])

    def seal(self, request: ReplicaRequest, to: str) -> str:
        value = [request.kind, request.body, request.number, self.clock()]
        return self.keys.seal(_ERRAND, value, bound={"to": to})

    def open(self, text: str) -> ReplicaRequest:
        """An request that came here. Raises `SealError` for any other text, and the second time."""
        kind, body, number, at = self.keys.open(_ERRAND, text, bound={"to": self.here})
        now = self.clock()
        if abs(now - at) > AGE_SECONDS:
            raise SealError("it is too old, or the clocks of two machines are too far apart")
        self._seen = {known: seen for known, seen in self._seen.items() if seen > now}
        if number in self._seen:
            raise SealError("it was here before")
        # As long as its time could be taken for one of now.
        self._seen[number] = at + 2 * AGE_SECONDS
        return ReplicaRequest(kind, body, number)

    def seal_reply(self, request: ReplicaRequest, value: Any) -> str:
        return self.keys.seal(_REPLY, value, bound={"number": request.number})

    def open_reply(self, request: ReplicaRequest, text: str) -> Any:
        """The answer to this request. Raises `SealError` for any other text."""
        return self.keys.open(_REPLY, text, bound={"number": request.number})


_SECONDS: Final = 5.0
_MOST_BYTES: Final = 16 * 1024 * 1024
"""Of one line, sealed: a request of the largest size, in hexadecimal."""
_MOST_AT_ONCE: Final = 64

_log: Final = logging.getLogger(__name__)

Handler = Callable[[Any], Awaitable[Any]]
"""Does one kind of request here; `None` says that there is nothing here that it is about."""


class GoneError(Exception):
    """The process that an request is for is not there any more, or does not answer."""


@dataclass(slots=True)
class ReplicaClient:
    """Sends errands to the other processes, and does those that come from them.

    `name` is this process; it stands in what clients bring back, so that any process knows whose
    it is. Without a presence there are no others.
    """

    name: str = ""
    envelopes: Envelopes | None = None
    presence: Presence | None = None
    handlers: dict[str, Handler] = field(default_factory=dict[str, Handler])
    _turns: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(_MOST_AT_ONCE)
    )

    async def send(self, to: str, kind: str, body: Any, seconds: float = _SECONDS) -> Any:
        """Have the process `to` do something, and give its answer.

        Raises `GoneError` where it is gone, does not answer in time, or cannot be found out about.
        """
        if self.envelopes is None or self.presence is None:
            raise GoneError(to)
        request = ReplicaRequest(kind, body)
        try:
            address = await self.presence.address_of(to)
            if address is None:
                raise GoneError(to)
            async with asyncio.timeout(seconds):
                told = await _exchange(address, self.envelopes.seal(request, to))
            return self.envelopes.open_reply(request, told)
        except (OSError, TimeoutError, ValueError, SealError, StoreError) as error:
            _log.warning("replica %s does not answer: %s", to, error or type(error).__name__)
            raise GoneError(to) from error

    async def send_all(self, kind: str, body: Any) -> list[Any]:
        """Have all others do something; the answers of those that had something to do."""
        if self.presence is None:
            return []
        found: list[Any] = []

        async def ask(to: str) -> None:
            try:
                told = await self.send(to, kind, body)
            except GoneError:
                return
            if told is not None:
                found.append(told)

        async with anyio.create_task_group() as group:
            for to in await self.presence.others():
                group.start_soon(ask, to)
        return found

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection from another process, or from somebody who is none."""
        try:
            async with asyncio.timeout(_SECONDS):
                line = await reader.readuntil()
            if self.envelopes is None:
                return
            async with self._turns:
                request = self.envelopes.open(line.decode("ascii").strip())
                handler = self.handlers.get(request.kind)
                told = None if handler is None else await handler(request.body)
                writer.write(f"{self.envelopes.seal_reply(request, told)}\n".encode())
                await writer.drain()
        except (SealError, ValueError) as error:
            # Whoever is no replica gets no answer, and the log a line.
            _log.warning("what came for this replica was not taken: %s", error)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()


async def listen(replica_client: ReplicaClient, sock: Any) -> asyncio.Server:
    """Take errands on a socket that listens."""
    return await asyncio.start_server(replica_client.take, sock=sock, limit=_MOST_BYTES)


async def _exchange(address: str, line: str) -> str:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port), limit=_MOST_BYTES)
    try:
        writer.write(f"{line}\n".encode())
        await writer.drain()
        return (await reader.readuntil()).decode("ascii").strip()
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise ConnectionResetError("it hung up") from error
    finally:
        writer.close()


@asynccontextmanager
async def open_replicas(
    replicas: Replicas, keys: Keyring, listener: socket.socket, host: str
) -> AsyncGenerator[ReplicaClient]:
    """The replica client of a process that others reach at `host` and the port of `listener`.

    Raises `KeysError` where another process has other keys.
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
