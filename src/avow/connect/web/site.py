"""An MCP server over HTTP (Streamable HTTP, MCP 2025-03-26 to 2026-07-28).

A failure costs one request, and says which `Fault` it was: whether anything may have run follows
from that.
"""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import anyio

from avow.connect.inbox import PROGRESS, Inbox, Progress, tell, with_token
from avow.connect.message import (
    Message,
    read_message,
    write_notification,
    write_request,
)
from avow.connect.rpc import Fault, RpcError
from avow.connect.web.answer import (
    EVENTS,
    JSON,
    events,
    is_stream,
    kind_of,
    redirect,
    refuse,
    response,
)
from avow.connect.web.connection import MOST_BYTES, BrokenError
from avow.connect.web.events import EventReader
from avow.connect.web.pool import Exchange, NotSentError, Pool, target_of

_log: Final = logging.getLogger(__name__)

_GOODBYE_SECONDS: Final = 2.0
_RESUME_SECONDS: Final = 1.0
_MOST_RESUMES: Final = 20
_MOST_SILENT: Final = 3
"""How often a stream that brings nothing is asked for again."""
_MOST_REDIRECTS: Final = 3
_SESSION: Final = "mcp-session-id"


@dataclass(slots=True)
class Site:
    """Carries requests to one endpoint. `spawn` runs what goes on beside them, while it is open.

    `headers` go along with all requests.
    """

    url: str
    headers: Mapping[str, str]
    inbox: Inbox
    spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
    pool: Pool = field(init=False)
    session: str | None = None
    _version: Mapping[str, str] = field(default_factory=dict[str, str])
    _numbers: Any = field(default_factory=lambda: itertools.count(1))
    _path: str = field(init=False)
    _hearing: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self.pool = Pool.to(self.url)
        self._path = target_of(self.url)

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        timeout: float,
        progress: Progress | None = None,
        is_modern: bool = True,
    ) -> Message:
        """The response to one request, `timeout` seconds at most. Raises `RpcError`.

        Cancelling ends the request at the server: by the end of its stream since 2026-07-28, by a
        notification before.
        """
        number = next(self._numbers)
        body = write_request(number, method, with_token(params, number, progress))
        try:
            async with asyncio.timeout(timeout):
                return await self._ask(method, body, number, headers, progress)
        except TimeoutError:
            self._cancel(method, number, headers, is_modern=is_modern)
            raise RpcError.none(Fault.TIMED_OUT, f"Request {method!r} timed out") from None
        except asyncio.CancelledError:
            self._cancel(method, number, headers, is_modern=is_modern)
            raise

    async def notify(
        self, method: str, headers: Mapping[str, str], params: Mapping[str, Any] | None = None
    ) -> None:
        """Send a notification; whether it arrives is not known. Raises `RpcError`."""
        self._version = headers
        async with self._post(write_notification(method, params), headers) as exchange:
            await exchange.reply.body()

    def hear(self) -> None:
        """Begin to hear what a server says outside of requests (before 2026-07-28)."""
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
                _log.debug("the stream of %s broke: %s", self.url, error)
            last = reader.last_id
            await anyio.sleep(_RESUME_SECONDS if reader.retry is None else reader.retry / 1000)

    async def close(self) -> None:
        """Say goodbye to a session, for two seconds at most, and end all connections."""
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
                await exchange.reply.head()

    async def _ask(
        self,
        method: str,
        body: bytes,
        number: int,
        headers: Mapping[str, str],
        progress: Progress | None,
    ) -> Message:
        async with self._post(body, headers, number) as exchange:
            reply = exchange.reply
            if method == "initialize":
                self.session = reply.headers.get(_SESSION)
            if kind_of(reply) == JSON:
                return response(await reply.body(), number)
            reader = EventReader(MOST_BYTES)
            found = await self._await(exchange, reader, number, progress)
        return found or await self._resumed(reader, number, progress)

    async def _await(
        self, exchange: Exchange, reader: EventReader, number: int, progress: Progress | None
    ) -> Message | None:
        """The response in a stream; `None` where the stream ends before it."""
        try:
            async for event in events(exchange.reply, reader):
                message = read_message(event.data)
                if message.is_response and message.id == number:
                    return message
                if message.method == PROGRESS and progress is not None:
                    await tell(progress, message)
                else:
                    await self._take(message)
        except BrokenError:
            if not reader.last_id:
                raise
        return None

    async def _resumed(
        self, reader: EventReader, number: int, progress: Progress | None
    ) -> Message:
        """Go on with a stream that ended early, where the server can (MCP 2025-11-25)."""
        for _ in range(_MOST_RESUMES if reader.last_id else 0):
            await anyio.sleep(_RESUME_SECONDS if reader.retry is None else reader.retry / 1000)
            last = reader.last_id
            async with self._get(last) as exchange:
                if exchange is None:
                    break
                reader = EventReader(MOST_BYTES, last, reader.retry)
                found = await self._await(exchange, reader, number, progress)
            if found is not None:
                return found
        raise RpcError.none(Fault.LOST, "the stream ended without a response")

    async def _take(self, message: Message) -> None:
        """What the server says unasked."""
        if message.method is None:
            return
        if message.id is None:
            await self.inbox.notify(message)
        else:
            self.spawn(self._answer(message))

    async def _answer(self, message: Message) -> None:
        body = await self.inbox.answer(message)
        with contextlib.suppress(RpcError):
            async with self._post(body, self._version) as exchange:
                await exchange.reply.body()

    def _cancel(
        self, method: str, number: int, headers: Mapping[str, str], *, is_modern: bool
    ) -> None:
        if not is_modern and method != "initialize":
            self.spawn(self._say_cancelled(number, headers))

    async def _say_cancelled(self, number: int, headers: Mapping[str, str]) -> None:
        body = write_notification("notifications/cancelled", {"requestId": number})
        with contextlib.suppress(RpcError, TimeoutError):
            async with asyncio.timeout(_GOODBYE_SECONDS), self._post(body, headers) as exchange:
                await exchange.reply.body()

    @contextlib.asynccontextmanager
    async def _post(
        self, body: bytes, headers: Mapping[str, str], number: int | None = None
    ) -> AsyncGenerator[Exchange]:
        """One POST; what is no answer in MCP is raised as the `Fault` that it is.

        `number` is that of the request, where it is one.
        """
        exchange: Exchange | None = None
        try:
            exchange = await self._followed(body, headers)
            await refuse(exchange.reply, number, has_session=self.session is not None)
            yield exchange
        except NotSentError as error:
            raise RpcError.none(Fault.NOT_SENT, f"no connection: {error}") from error
        except BrokenError as error:
            raise RpcError.none(Fault.LOST, f"the connection broke: {error}") from error
        except ValueError as error:  # the words quote what could not be read
            raise RpcError.none(Fault.LOST, "its answer cannot be read") from error
        finally:
            if exchange is not None:
                exchange.close()

    async def _followed(self, body: bytes, headers: Mapping[str, str]) -> Exchange:
        """Follow redirects as far as they stay within the origin: a server must not send us on."""
        told = {"accept": f"{JSON}, {EVENTS}", "content-type": JSON, **headers}
        for _ in range(_MOST_REDIRECTS):
            exchange = await self._exchange("POST", self._path, told, body)
            try:
                await exchange.reply.head()
                goal = redirect(exchange.reply, self.url, self._path)
            except BaseException:
                exchange.close()
                raise
            if goal is None:
                return exchange
            exchange.close()
            if urlsplit(goal)[:2] != urlsplit(self.url)[:2]:
                what = f"its redirect to {goal} is not followed; name that URL if it is meant"
                raise RpcError.none(Fault.SENT_ON, what)
            self._path = target_of(goal)
        raise RpcError.none(Fault.SENT_ON, "its redirects do not end")

    async def _exchange(
        self, verb: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Exchange:
        session = {} if self.session is None else {_SESSION: self.session}
        return await self.pool.exchange(verb, path, {**self.headers, **headers, **session}, body)

    @contextlib.asynccontextmanager
    async def _get(self, last_id: str) -> AsyncGenerator[Exchange | None]:
        """A stream of events, or `None` where the server has none."""
        told = {"accept": EVENTS, **self._version}
        if last_id:
            told["last-event-id"] = last_id
        exchange = await self._exchange("GET", self._path, told)
        try:
            await exchange.reply.head()
            yield exchange if is_stream(exchange.reply) else None
        finally:
            exchange.close()
