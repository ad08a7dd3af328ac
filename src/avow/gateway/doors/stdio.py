"""The door over stdio: one client, one message a line, in either protocol era."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from avow.connect.message import Message, read_message, read_object, write_error, write_result
from avow.connect.rpc import INVALID_REQUEST, PARSE_ERROR, RpcError
from avow.gateway.doors.client import META, Client, called
from avow.gateway.doors.desk import CANCELLED, Desk
from avow.gateway.doors.handshake import greeting, hello_of
from avow.gateway.doors.modern import alone
from avow.gateway.doors.parameters import parameters_of
from avow.gateway.doors.sessions import Session, SessionLine
from avow.policy import Principal

Write = Callable[[bytes], Awaitable[None]]


@dataclass(slots=True)
class StdioDoor:
    """Answers the messages of one client. `write` sends one line to it."""

    desk: Desk
    principal: Principal
    write: Write
    _session: Session = field(default_factory=Session)
    _client: Client | None = None

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Answer until the client has said all; what is under way then is cancelled."""
        async with anyio.create_task_group() as group:
            async for line in lines:
                try:
                    message = read_message(line)
                except ValueError:
                    await self.write(write_error(None, PARSE_ERROR, "this line is no message"))
                    continue
                if message.is_response:
                    self._session.answered(message)
                elif message.id is None:
                    self._note(message)
                else:
                    group.start_soon(self._answer, message)
            group.cancel_scope.cancel()

    async def say(self, body: bytes) -> bool:
        """Send a message."""
        await self.write(body)
        return True

    def _note(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            with contextlib.suppress(ValueError):
                self._session.cancel(read_object(message.params).get("requestId"))

    async def _answer(self, message: Message) -> None:
        number = message.id
        assert number is not None  # noqa: S101 - it is a request
        try:
            if message.method == "initialize":
                await self.write(self._initialize(message))
                return
            params = parameters_of(message)
            client = self._client_of(params)
        except RpcError as error:
            await self.write(write_error(number, error.code, error.message, error.data))
            return
        line = SessionLine(self._session, self)
        body = write_error(number, CANCELLED, "Request cancelled")
        with anyio.CancelScope() as scope:
            self._session.running[number] = scope.cancel
            try:
                body = (await self.desk.answer(message, params, client, line)).body
            finally:
                self._session.running.pop(number, None)
        await self.write(body)

    def _client_of(self, params: dict[str, Any]) -> Client:
        """Who a request comes from: it says so itself, or the handshake has said it."""
        meta: dict[str, Any] = params.get("_meta") or {}
        if f"{META}protocolVersion" in meta:
            return alone(params, self.principal)
        if self._client is None:
            raise RpcError(INVALID_REQUEST, "Send initialize first")
        return self._client

    def _initialize(self, message: Message) -> bytes:
        version, capabilities, name = hello_of(message)
        self._client = Client(called(self.principal, name), version, capabilities)
        return write_result(message.id, greeting(version, self.desk.instructions))
