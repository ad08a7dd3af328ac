"""A pool of connections to one host and port."""

import asyncio
import ssl
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from typing import Final
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from sayso.connect.web.connection import BrokenError, Connection, Reply

_CONNECT_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 4.0
"""Less than the 5 s after which many servers close idle connections and so lose a request."""
_MAX_EXCHANGES: Final = 512
"""Maximum concurrent exchanges with one host and port; further ones wait."""

_PORTS: Final = {"http": 80, "https": 443}


class NotSentError(Exception):
    """A request that did not reach the server."""


@cache
def tls() -> ssl.SSLContext:
    """Return the shared TLS context, because creating one takes tens of milliseconds."""
    return ssl.create_default_context()


@dataclass(slots=True)
class Pool:
    """Connections to the host of one URL, through the environment's proxy if it has one."""

    parts: SplitResult
    _idle: list[Connection] = field(default_factory=list[Connection])
    _all: set[Connection] = field(default_factory=set[Connection])
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_MAX_EXCHANGES))
    _proxy: SplitResult | None = None
    _is_closed: bool = False

    @classmethod
    def to(cls, url: str) -> "Pool":
        parts = urlsplit(url)
        bypass = bool(proxy_bypass(parts.hostname or ""))
        proxy = None if bypass else getproxies().get(parts.scheme)
        pool = cls(parts)
        if proxy:
            pool._proxy = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        return pool

    async def exchange(
        self, verb: str, target: str, headers: Mapping[str, str], body: bytes = b""
    ) -> "Exchange":
        """Send one request; `target` is a path with its query.

        Raises `NotSentError` if there is no connection. The caller must `close` the exchange.
        """
        head = self._head(verb, target, headers, body)
        await self._turns.acquire()
        try:
            connection = self._reusable() or await self._connect()
        except BaseException:
            self._turns.release()
            raise
        return Exchange(self, connection, connection.send(head, body))

    def release(self, connection: Connection, *, is_done: bool) -> None:
        """End an exchange; a connection with an incomplete answer is closed."""
        self._turns.release()
        if not is_done:
            connection.close()
        if not connection.is_open:
            self._all.discard(connection)

    async def close(self) -> None:
        """Close all connections. A connection opened later closes after its exchange."""
        self._is_closed = True
        for connection in self._all:
            connection.close()
        self._all.clear()
        self._idle.clear()
        await asyncio.sleep(0)  # asyncio releases a connection one turn later

    def _reusable(self) -> Connection | None:
        now = time.monotonic()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and now - connection.idle_since < _IDLE_SECONDS:
                return connection
            connection.close()
            self._all.discard(connection)
        return None

    def _free(self, connection: Connection) -> None:
        if self._is_closed:
            connection.close()
            return
        connection.idle_since = time.monotonic()
        self._idle.append(connection)

    async def _connect(self) -> Connection:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                connection = await self._open()
        except UnicodeError as error:
            raise NotSentError(f"“{self.parts.hostname}” cannot be a host's name") from error
        except (OSError, TimeoutError, BrokenError) as error:
            why = str(error) or f"no connection within {_CONNECT_SECONDS:g} s"
            raise NotSentError(why) from error
        self._all.add(connection)
        return connection

    async def _open(self) -> Connection:
        loop = asyncio.get_running_loop()
        is_tls = self.parts.scheme == "https"
        through = self._proxy or self.parts
        host = through.hostname or ""
        port = through.port or _PORTS.get(through.scheme, 80)
        secure = tls() if through.scheme == "https" else None
        is_tunnel = self._proxy is not None and is_tls
        freed = None if is_tunnel else self._free
        _, connection = await loop.create_connection(
            lambda: Connection(freed), host, port, ssl=secure
        )
        if not is_tunnel:
            return connection
        try:
            return await self._tunnel(connection)
        except BaseException:
            connection.close()
            raise

    async def _tunnel(self, connection: Connection) -> Connection:
        """Open a tunnel through a proxy to TLS (RFC 9110, section 9.3.6)."""
        host = self.parts.hostname or ""
        port = self.parts.port or _PORTS["https"]
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        head = f"CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n{_authorization(self._proxy)}\r\n"
        reply = connection.send(head.encode())
        await reply.head()
        if reply.status != HTTPStatus.OK:
            raise BrokenError(f"the proxy answers with HTTP {reply.status}")
        inner = Connection(self._free)
        await connection.secured(inner, tls(), host)
        return inner

    def _head(self, verb: str, target: str, headers: Mapping[str, str], body: bytes) -> bytes:
        parts = self.parts
        is_plain_proxy = self._proxy is not None and parts.scheme == "http"
        # Drop user name and password, which belong only in the Authorization header.
        place = parts.netloc.rpartition("@")[2]
        where = f"http://{place}{target}" if is_plain_proxy else target
        lines = [f"{verb} {where} HTTP/1.1", f"host: {place}"]
        lines += map("%s: %s".__mod__, headers.items())
        if body or verb == "POST":
            lines.append(f"content-length: {len(body)}")
        head = "\r\n".join(lines)
        if not len(lines) - 1 == head.count("\n") == head.count("\r") or "\0" in head:
            raise NotSentError("a header holds a line break")
        proof = _authorization(self._proxy) if is_plain_proxy else ""
        return f"{head}\r\n{proof}\r\n".encode()


@dataclass(slots=True)
class Exchange:
    """A request and its answer, on a connection of the pool."""

    pool: Pool
    connection: Connection
    reply: Reply
    is_closed: bool = False

    def close(self) -> None:
        """Release the connection; if the response was not read to its end, close it."""
        if not self.is_closed:
            self.is_closed = True
            self.pool.release(self.connection, is_done=self.reply.is_whole)


def _authorization(proxy: SplitResult | None) -> str:
    if proxy is None or not proxy.username:
        return ""
    credentials = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return f"proxy-authorization: Basic {b64encode(credentials.encode()).decode()}\r\n"


def target_of(url: str) -> str:
    """Return the target of a request line: path and query."""
    parts = urlsplit(url)
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    return f"{path}?{parts.query}" if parts.query else path
