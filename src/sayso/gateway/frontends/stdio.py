"""The stdio transport for one client of either protocol era, with one message per line."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import anyio

from sayso.connect import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Id,
    Message,
    RpcError,
    in_one_line,
    read_message,
    read_object,
    write_error,
    write_result,
)
from sayso.gateway.frontends.batch import BATCHING, answer_batch, is_batch, read_batch
from sayso.gateway.frontends.client import META, Client, Line, called, hello_of
from sayso.gateway.frontends.dispatcher import SWITCHED_OFF, Dispatcher, greeting
from sayso.gateway.frontends.modern import alone
from sayso.gateway.frontends.parameters import read_parameters
from sayso.gateway.frontends.reply import Outbox
from sayso.gateway.frontends.request import AmbiguousError, check_unambiguous
from sayso.gateway.frontends.sessions import ModernLine, Session, SessionLine, open_stream
from sayso.gateway.notifications import Notifier
from sayso.policy import Principal

Write = Callable[[bytes], Awaitable[None]]


@dataclass(slots=True)
class StdioFrontend:
    """The endpoint for one client. `write` sends one line to the client."""

    dispatcher: Dispatcher
    principal: Principal
    write: Write
    _outbox: Outbox = field(init=False)
    _session: Session = field(default_factory=Session)
    _client: Client | None = None

    def __post_init__(self) -> None:
        self._outbox = Outbox(self.write)

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Answer requests until the input ends, and then cancel the active requests."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._tell)
            async for line in lines:
                try:
                    if is_batch(line) and self._batches:
                        batch = read_batch(line)
                        await check_unambiguous(line)
                        group.start_soon(self._answer_all, batch)
                        continue
                    message = read_message(line)
                    await check_unambiguous(line)
                except AmbiguousError as error:
                    await self._outbox.say(write_error(_id_of(line), INVALID_REQUEST, str(error)))
                    continue
                except ValueError:
                    error = write_error(None, PARSE_ERROR, "the line is not a JSON-RPC message")
                    await self._outbox.say(error)
                    continue
                if message.is_response or message.id is None:
                    self._note(message)
                else:
                    group.start_soon(self._answer, message)
            group.cancel_scope.cancel()
        self._notifier.leave(self._session.listener)

    @property
    def _notifier(self) -> Notifier:
        return self.dispatcher.router.upstreams.notifier

    async def _tell(self) -> None:
        while not self._notifier.is_closed and (queue := open_stream(self._session)):
            while body := await queue.get():
                await self._outbox.say(body)

    async def say(self, body: bytes) -> bool:
        await self._outbox.say(body)
        return True

    def tell(self, body: bytes) -> bool:
        self._outbox.tell(body)
        return True

    @property
    def _batches(self) -> bool:
        return self._client is not None and self._client.version == BATCHING

    def _note(self, message: Message) -> None:
        if not self.dispatcher.admits(self.principal):
            return
        if message.is_response:
            self._session.answered(message)
        elif message.method == "notifications/cancelled":
            with contextlib.suppress(ValueError):
                self._session.cancel(read_object(message.params).get("requestId"))

    async def _answer(self, message: Message) -> None:
        if body := await self._respond(message):
            await self._outbox.say(body)

    async def _answer_all(self, messages: list[Message]) -> None:
        for message in messages:
            if message.is_response or message.id is None:
                self._note(message)
        if body := await answer_batch(messages, self._respond):
            await self._outbox.say(body)

    async def _respond(self, message: Message) -> bytes | None:
        """Return the response; a cancelled request gets none (MCP, cancellation)."""
        number = cast("Id", message.id)
        try:
            if message.method == "initialize":
                return await self._initialize(message)
            params = await read_parameters(message)
            client = self._client_of(params)
        except RpcError as error:
            return write_error(number, error.code, error.message, error.data)
        line: Line = SessionLine(self._session, self)
        if client.is_modern:
            line = ModernLine(self)
        body = None
        with anyio.CancelScope() as scope:
            self._session.running[number] = scope.cancel
            try:
                body = (await self.dispatcher.answer(message, params, client, line)).body
            finally:
                self._session.running.pop(number, None)
        return body

    def _client_of(self, params: dict[str, Any]) -> Client:
        meta: dict[str, Any] = params.get("_meta") or {}
        if f"{META}protocolVersion" in meta:
            return alone(params, self.principal)
        if self._client is None:
            raise RpcError(INVALID_REQUEST, "Send initialize first")
        return replace(self._client, level=self._session.listener.level)

    async def _initialize(self, message: Message) -> bytes:
        if not self.dispatcher.admits(self.principal):
            raise RpcError(INVALID_REQUEST, SWITCHED_OFF)
        version, capabilities, name = hello_of(message)
        # Set this before the introduction, which may take long, because some clients do not wait.
        self._client = Client(called(self.principal, name), version, capabilities, name=name)
        self._session.listener.subject = self.principal.account
        self._session.listener.is_local = not self.principal.is_known
        introduction = await self.dispatcher.introduce(self.principal)
        self._notifier.join(self._session.listener)
        return write_result(message.id, greeting(version, introduction))


def _id_of(line: bytes) -> Id | None:
    """Return the id of a refused message; `None` for a batch."""
    return None if is_batch(line) else read_message(line).id


_LARGEST_LINE: Final = 4 * 1024 * 1024


@contextlib.asynccontextmanager
async def standard_pipes() -> AsyncGenerator[tuple[AsyncIterator[bytes], Write]]:
    """Yield the lines of standard input, and a function that writes a line to standard output.

    Meanwhile, anything else that this process prints to standard output goes to standard error. A
    line of more than 4 MiB ends the connection.
    """
    loop = asyncio.get_running_loop()
    received = os.fdopen(os.dup(0), "rb", 0)
    sent = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)
    sys.stdout.flush()
    reader = asyncio.StreamReader(_LARGEST_LINE)
    reading, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), received
    )
    flow = cast("Any", asyncio.streams.FlowControlMixin)
    transport, protocol = await loop.connect_write_pipe(flow, sent)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    turn = asyncio.Lock()

    async def write(body: bytes) -> None:
        async with turn:
            with contextlib.suppress(ConnectionError):
                writer.write(in_one_line(body) + b"\n")
                await writer.drain()

    try:
        yield _lines(reader), write
    finally:
        reading.close()
        writer.close()


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        while True:
            line = (await reader.readuntil(b"\n")).strip()
            if line:
                yield line
