"""The transport Streamable HTTP (MCP 2025-03-26 to 2026-07-28).

A failure affects only one request. Its `Fault` tells whether the server may have run it.
"""

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from sayso.alarm import Alarm
from sayso.connect.inbox import PROGRESS, Inbox, Progress, tell, with_token
from sayso.connect.message import (
    Message,
    read_message,
    write_notification,
    write_request,
)
from sayso.connect.request_listener import Deadline, RequestListener
from sayso.connect.rpc import Fault, RpcError
from sayso.connect.web.answer import (
    EVENTS,
    JSON,
    events,
    is_redirect,
    is_stream,
    kind_of,
    refuse,
    response,
    sent_on,
)
from sayso.connect.web.authenticator import Authenticator, NoCredentialsError, proved
from sayso.connect.web.connection import MOST_BYTES, BrokenError
from sayso.connect.web.events import EventReader
from sayso.connect.web.pool import Exchange, NotSentError, Pool, target_of
from sayso.slices import LARGE_BYTES, rest_since

_log: Final = logging.getLogger(__name__)

_GOODBYE_SECONDS: Final = 2.0
_RESUME_SECONDS: Final = 1.0
_MOST_RESUMES: Final = 20
_MOST_SILENT: Final = 3
"""Maximum retries of a stream that ends without an event."""
_MOST_REDIRECTS: Final = 3
_SESSION: Final = "mcp-session-id"
_NOTHING: Final[Mapping[str, str]] = {}
_TOLD: Final = {"accept": f"{JSON}, {EVENTS}", "content-type": JSON}


@dataclass(slots=True)
class HttpTransport:
    """A transport to one endpoint. `spawn` runs background tasks while it is open.

    All requests carry `headers` and those of `proof`.
    """

    url: str
    headers: Mapping[str, str]
    inbox: Inbox
    spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
    proof: Authenticator | None = None
    pool: Pool = field(init=False)
    session: str | None = None
    _version: Mapping[str, str] = field(default_factory=dict[str, str])
    _numbers: Any = field(default_factory=lambda: itertools.count(1))
    _path: str = field(init=False)
    _hearing: asyncio.Task[None] | None = None
    _alarm: Alarm | None = None

    def __post_init__(self) -> None:
        self.pool = Pool.to(self.url)
        self._path = target_of(self.url)

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        timeout: float | None,
        progress: Progress | None = None,
        listener: RequestListener | None = None,
        is_modern: bool = True,
    ) -> Message:
        """Return the response to one request, within `timeout` seconds. Raises `RpcError`.

        Cancelling also cancels the request at the server: since 2026-07-28 by closing its stream,
        in older versions by a notification.
        """
        number = next(self._numbers)
        begun = time.perf_counter()
        body = write_request(number, method, with_token(params, number, progress))
        if len(body) > LARGE_BYTES:
            await rest_since(begun)
        try:
            self._alarm = alarm = Alarm.of(timeout, self._alarm)
            with Deadline(alarm) as limit, self.inbox.hearing(listener, limit):
                return await self._ask(method, body, number, headers, progress, listener)
        except TimeoutError:
            self._cancel(method, number, headers, is_modern=is_modern)
            raise RpcError.none(Fault.TIMED_OUT, f"Request {method!r} timed out") from None
        except asyncio.CancelledError:
            self._cancel(method, number, headers, is_modern=is_modern)
            raise

    async def notify(
        self, method: str, headers: Mapping[str, str], params: Mapping[str, Any] | None = None
    ) -> None:
        """Send a notification. Raises `RpcError` if it may not have arrived."""
        self._version = headers
        async with _Post(self, write_notification(method, params), headers) as exchange:
            await exchange.reply.body()

    def hear(self) -> None:
        """Start listening for messages outside of requests (before 2026-07-28)."""
        self._hearing = self.spawn(self._hear())

    async def _hear(self) -> None:
        silent = 0
        last = ""
        while silent < _MOST_SILENT:
            reader = EventReader(MOST_BYTES, last)
            silent += 1
            try:
                async with self._get(reader.last_id) as exchange:
                    if exchange is None:
                        return
                    async for event in events(exchange.reply, reader):
                        silent = 0
                        await self._take(read_message(event.data))
            except (RpcError, NotSentError, BrokenError, ValueError) as error:
                _log.debug("the stream of %s broke: %s", self.pool.parts.hostname, error)
            last = reader.last_id
            await _pause(reader)

    async def close(self) -> None:
        """End the session, within two seconds, and close all connections."""
        if self._hearing is not None:
            self._hearing.cancel()
        with anyio.CancelScope(shield=True):
            await self._say_goodbye()
            await self.pool.close()

    async def _say_goodbye(self) -> None:
        if self.session is None:
            return
        with contextlib.suppress(NotSentError, BrokenError, TimeoutError):
            async with asyncio.timeout(_GOODBYE_SECONDS):
                exchange = await self._exchange("DELETE", self._path, self._version)
                exchange.close()

    async def _ask(
        self,
        method: str,
        body: bytes,
        number: int,
        headers: Mapping[str, str],
        progress: Progress | None,
        listener: RequestListener | None,
    ) -> Message:
        async with _Post(self, body, headers, number) as exchange:
            reply = exchange.reply
            if method == "initialize":
                self.session = reply.headers.get(_SESSION)
            if kind_of(reply) == JSON:
                told = await reply.body()
                begun = time.perf_counter()
                message = response(told, number)
                await rest_since(begun)
                return message
            reader = EventReader(MOST_BYTES)
            found = await self._await(exchange, reader, number, progress, listener)
        return found or await self._resumed(reader, number, progress, listener)

    async def _await(
        self,
        exchange: Exchange,
        reader: EventReader,
        number: int,
        progress: Progress | None,
        listener: RequestListener | None,
    ) -> Message | None:
        """Return the response in a stream, or `None` if the stream ends without it."""
        try:
            async for event in events(exchange.reply, reader):
                begun = time.perf_counter()
                message = read_message(event.data)
                await rest_since(begun)
                if message.is_response and message.id == number:
                    return message
                if message.method == PROGRESS and progress is not None:
                    await tell(progress, message)
                else:
                    await self._take(message, listener)
        except BrokenError:
            if not reader.last_id:
                raise
        return None

    async def _resumed(
        self,
        reader: EventReader,
        number: int,
        progress: Progress | None,
        listener: RequestListener | None,
    ) -> Message:
        """Resume a stream that ended early, if the server can (MCP 2025-11-25)."""
        tries = 0
        try:
            while reader.last_id and tries < _MOST_RESUMES:
                tries += 1
                await _pause(reader)
                last = reader.last_id
                async with self._get(last) as exchange:
                    if exchange is None:
                        break
                    reader = EventReader(MOST_BYTES, last, reader.retry)
                    if found := await self._await(exchange, reader, number, progress, listener):
                        return found
        except (NotSentError, BrokenError) as error:
            raise RpcError.none(Fault.LOST, f"the connection broke: {error}") from error
        except ValueError as error:  # its message quotes the unreadable answer
            raise RpcError.none(Fault.LOST, "the answer cannot be read") from error
        raise RpcError.none(Fault.LOST, "the stream ended without a response")

    async def _take(self, message: Message, listener: RequestListener | None = None) -> None:
        if message.method is None:
            return
        if message.id is None:
            await self.inbox.notify(message, listener)
        else:
            self.inbox.run_answer(self.spawn, self._answer(message, listener))

    async def _answer(self, message: Message, listener: RequestListener | None) -> None:
        body = await self.inbox.answer(message, listener)
        with contextlib.suppress(RpcError):
            async with _Post(self, body, self._version) as exchange:
                await exchange.reply.body()

    def _cancel(
        self, method: str, number: int, headers: Mapping[str, str], *, is_modern: bool
    ) -> None:
        if not is_modern and method != "initialize":
            self.spawn(self._say_cancelled(number, headers))

    async def _say_cancelled(self, number: int, headers: Mapping[str, str]) -> None:
        body = write_notification("notifications/cancelled", {"requestId": number})
        with contextlib.suppress(RpcError, TimeoutError):
            async with asyncio.timeout(_GOODBYE_SECONDS), _Post(self, body, headers) as exchange:
                await exchange.reply.body()

    async def followed(self, body: bytes, headers: Mapping[str, str]) -> Exchange:
        told = {**_TOLD, **headers}
        for _ in range(_MOST_REDIRECTS):
            exchange = await self._exchange("POST", self._path, told, body)
            if not is_redirect(exchange.reply):
                return exchange
            exchange.close()
            self._path = target_of(sent_on(exchange.reply, self.url, self._path))
        raise RpcError.none(Fault.SENT_ON, "the redirects do not end")

    async def _exchange(
        self, verb: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Exchange:
        told = {**self.headers, **headers}
        if self.session is not None:
            told[_SESSION] = self.session

        async def ask(proof: Mapping[str, str] = _NOTHING) -> Exchange:
            exchange = await self.pool.exchange(verb, path, {**told, **proof}, body)
            try:
                await exchange.reply.head()
            except BaseException:
                exchange.close()
                raise
            return exchange

        return await ask() if self.proof is None else await proved(self.proof, ask)

    @contextlib.asynccontextmanager
    async def _get(self, last_id: str) -> AsyncGenerator[Exchange | None]:
        told = {"accept": EVENTS, **self._version}
        if last_id:
            told["last-event-id"] = last_id
        exchange = await self._exchange("GET", self._path, told)
        try:
            yield exchange if is_stream(exchange.reply) else None
        finally:
            exchange.close()


async def _pause(reader: EventReader) -> None:
    seconds = _RESUME_SECONDS if reader.retry is None else reader.retry / 1000
    await anyio.sleep(seconds)


@dataclass(slots=True)
class _Post:
    """A POST whose failures are raised with a `Fault`; `number` is the request's."""

    site: HttpTransport
    body: bytes
    headers: Mapping[str, str]
    number: int | None = None
    exchange: Exchange | None = None

    async def __aenter__(self) -> Exchange:
        try:
            exchange = self.exchange = await self.site.followed(self.body, self.headers)
            await refuse(exchange.reply, self.number, has_session=self.site.session is not None)
        except BaseException as error:
            self._end(error)
            raise
        return exchange

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._end(error)

    def _end(self, error: BaseException | None) -> None:
        if self.exchange is not None:
            self.exchange.close()
        if isinstance(error, NoCredentialsError):
            raise RpcError.none(Fault.NOT_SENT, str(error)) from error
        if isinstance(error, NotSentError):
            raise RpcError.none(Fault.NOT_SENT, f"no connection: {error}") from error
        if isinstance(error, BrokenError):
            raise RpcError.none(Fault.LOST, f"the connection broke: {error}") from error
        if isinstance(error, ValueError):  # its message quotes the unreadable answer
            raise RpcError.none(Fault.LOST, "the answer cannot be read") from error
