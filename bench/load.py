"""A load of MCP calls over HTTP/1.1, by a client that costs little beside what is measured.

Each caller has a connection and, before 2026-07-28, a session of its own, and makes one call at a
time. A call is good when its status is 200 and its body holds a result that is no tool error.
"""

import asyncio
import json
import os
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

MODERN: Final = "2026-07-28"
OLD: Final = "2025-11-25"

_META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_TIMEOUT: Final = 30.0


@dataclass(frozen=True, slots=True)
class Work:
    """What is called, by how many at once; `tool` is empty for a list."""

    name: str
    tool: str
    callers: int
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where it is, in which version it is spoken to, and the process that is behind it.

    `prefix` stands before the names of its tools.
    """

    name: str
    url: str
    version: str
    pid: int
    prefix: str = ""


@dataclass(slots=True)
class Measured:
    """Of one load: seconds of each good call, of all, of the processor for each; and failures."""

    seconds: list[float] = field(default_factory=list[float])
    elapsed: float = 0.0
    cpu: float = 0.0
    errors: int = 0

    @property
    def p50(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.seconds) if self.seconds else float("nan")

    @property
    def p95(self) -> float:
        """The 95th percentile, in seconds."""
        return statistics.quantiles(self.seconds, n=20)[-1]

    @property
    def rate(self) -> float:
        """Good calls in a second."""
        return len(self.seconds) / self.elapsed


class _Wire(asyncio.Protocol):
    """One connection, one request at a time; reads what ends by length or by an empty chunk."""

    def __init__(self) -> None:
        self.transport: Any = None
        self._waiting: asyncio.Future[tuple[int, bytes, bytes]] | None = None
        self._come = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(exc or ConnectionResetError("closed"))

    def data_received(self, data: bytes) -> None:
        self._come += data
        end = self._come.find(b"\r\n\r\n")
        if end < 0 or self._waiting is None or self._waiting.done():
            return
        head = bytes(self._come[:end])
        small = head.lower()
        if (at := small.find(b"content-length:")) >= 0:
            length = int(small[at + 15 :].split(b"\r\n", 1)[0])
            if len(self._come) < end + 4 + length:
                return
        elif b"chunked" in small and not self._come.endswith(b"\r\n0\r\n\r\n"):
            return
        body = bytes(self._come[end + 4 :])
        self._come.clear()
        self._waiting.set_result((int(head[9:12]), head, body))

    def send(self, data: bytes) -> "asyncio.Future[tuple[int, bytes, bytes]]":
        self._waiting = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        return self._waiting


@dataclass(slots=True)
class Caller:
    """One caller of an endpoint."""

    endpoint: Endpoint
    wire: _Wire
    session: str | None = None

    @classmethod
    async def open(cls, endpoint: Endpoint) -> "Caller":
        """Connect, and shake hands where the version wants that."""
        parts = urlsplit(endpoint.url)
        loop = asyncio.get_running_loop()
        _, wire = await loop.create_connection(_Wire, parts.hostname or "", parts.port or 80)
        caller = cls(endpoint, wire)
        if endpoint.version == OLD:
            await caller._shake_hands()
        return caller

    def request(self, work: Work) -> bytes:
        """The bytes of one request, to be sent as often as wanted."""
        if not work.tool:
            return self._bytes("tools/list", {})
        name = self.endpoint.prefix + work.tool
        return self._bytes("tools/call", {"name": name, "arguments": work.arguments})

    async def ask(self, data: bytes) -> bool:
        """Send one request; whether its answer is good."""
        status, _, body = await asyncio.wait_for(self.wire.send(data), _TIMEOUT)
        is_error = b'"isError":true' in body or b'"isError": true' in body
        return status == HTTPStatus.OK and b'"result"' in body and not is_error

    async def close(self) -> None:
        """End the session and the connection."""
        if self.session is not None:
            await self.wire.send(self._bytes("", {}, verb="DELETE"))
        self.wire.transport.close()

    async def _shake_hands(self) -> None:
        about = {"name": "load", "version": "1"}
        params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": about}
        _, head, _ = await self.wire.send(self._bytes("initialize", params))
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"mcp-session-id":
                self.session = value.strip().decode()
        await self.wire.send(self._bytes("notifications/initialized", {}))

    def _bytes(self, method: str, params: Mapping[str, Any], verb: str = "POST") -> bytes:
        parts = urlsplit(self.endpoint.url)
        told = {"host": parts.netloc, "content-type": "application/json"}
        told |= {"accept": "application/json, text/event-stream"}
        if method != "initialize":
            told["mcp-protocol-version"] = self.endpoint.version
        if self.endpoint.version == MODERN:
            params = {**params, "_meta": _META}
            told["mcp-method"] = method
            told |= {"mcp-name": params["name"]} if "name" in params else {}
        if self.session is not None:
            told["mcp-session-id"] = self.session
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if not method.startswith("notifications/"):
            message["id"] = 1
        body = json.dumps(message).encode() if verb == "POST" else b""
        told["content-length"] = str(len(body))
        lines = [f"{verb} {parts.path} HTTP/1.1", *(f"{k}: {v}" for k, v in told.items())]
        return "\r\n".join([*lines, "", ""]).encode() + body


async def load(
    endpoint: Endpoint, work: Work, *, seconds: float = 3600.0, calls: int | None = None
) -> Measured:
    """Let all callers call for so long, or so often between them."""
    found, left = Measured(), [calls]
    callers = await asyncio.gather(*(Caller.open(endpoint) for _ in range(work.callers)))
    cpu, start = cpu_of(endpoint.pid), time.perf_counter()

    async def call(caller: Caller) -> None:
        data = caller.request(work)
        while time.perf_counter() - start < seconds and left[0] != 0:
            if left[0] is not None:
                left[0] -= 1
            begun = time.perf_counter()
            try:
                is_good = await caller.ask(data)
            except (OSError, TimeoutError):
                found.errors += 1
                return
            if is_good:
                found.seconds.append(time.perf_counter() - begun)
            else:
                found.errors += 1

    await asyncio.gather(*(call(one) for one in callers))
    found.elapsed = time.perf_counter() - start
    found.cpu = (cpu_of(endpoint.pid) - cpu) / max(len(found.seconds), 1)
    await asyncio.gather(*(one.close() for one in callers), return_exceptions=True)
    return found


def _family(pid: int) -> list[list[str]]:
    """What the kernel tells of a process and of all that it has started."""
    found: dict[int, list[str]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text(encoding="utf-8")
            except OSError:
                continue
            found[int(folder.name)] = text.rpartition(")")[2].split()
    family, todo = cast("list[list[str]]", []), [pid]
    while todo:
        one = todo.pop()
        if one in found:
            family.append(found[one])
            todo += [child for child, told in found.items() if int(told[1]) == one]
    return family


def cpu_of(pid: int) -> float:
    """Seconds of the processor that a process and its children have had."""
    ticks = os.sysconf("SC_CLK_TCK")
    return sum(int(one[11]) + int(one[12]) for one in _family(pid)) / ticks


def memory_of(pid: int) -> float:
    """MiB that they hold."""
    return sum(int(one[21]) for one in _family(pid)) * os.sysconf("SC_PAGE_SIZE") / 2**20
