"""The sessions of the handshake eras over HTTP (MCP 2025-11-25, Streamable HTTP)."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, cast

import anyio

from sayso.alarm import Alarm
from sayso.connect import Id, Message, RpcError, read_object, write_error, write_result
from sayso.gateway.frontends import remote_session
from sayso.gateway.frontends.batch import BATCHING, answer_batch
from sayso.gateway.frontends.client import Client, called, hello_of
from sayso.gateway.frontends.dispatcher import CANCELLED, Dispatcher, greeting
from sayso.gateway.frontends.modern import refuse_false_headers
from sayso.gateway.frontends.parameters import read_parameters
from sayso.gateway.frontends.reply import (
    EVENT_HEADERS,
    PATIENCE_SECONDS,
    PING,
    PING_SECONDS,
    Reply,
    as_event,
    watched,
)
from sayso.gateway.frontends.request import RefusedError, Request
from sayso.gateway.frontends.session_token import SessionToken, SessionTokens
from sayso.gateway.frontends.sessions import Session, SessionLine, Sessions, open_stream
from sayso.policy import Principal

_SESSION: Final = "mcp-session-id"


@dataclass(frozen=True, slots=True)
class StatefulFrontend:
    """The endpoint for sessions. The token contains the session, so any replica can answer."""

    dispatcher: Dispatcher
    tokens: SessionTokens
    sessions: Sessions
    patience: Alarm = field(default_factory=lambda: Alarm(PATIENCE_SECONDS))

    async def take(self, request: Request, principal: Principal, message: Message) -> None:
        """Take one message of a client. Raises `RefusedError`."""
        if message.method == "initialize" and message.id is not None:
            await self._begin(request, principal, message)
            return
        token = self._session_token(request, principal)
        if message.method is not None and message.id is not None:
            await self._answer(request, principal, token, [message])
            return
        await self._note(token, message)
        await request.accept()

    async def take_all(
        self, request: Request, principal: Principal, messages: Sequence[Message]
    ) -> None:
        """Take the messages of a batch (MCP 2025-03-26 only). Raises `RefusedError`."""
        token = self._session_token(request, principal)
        if token.version != BATCHING or any(message.method == "initialize" for message in messages):
            what = "the body must be one JSON-RPC 2.0 message"
            raise RefusedError(HTTPStatus.BAD_REQUEST, what)
        requests = [
            message for message in messages if message.method is not None and message.id is not None
        ]
        for message in messages:
            if message not in requests:
                await self._note(token, message)
        if requests:
            await self._answer(request, principal, token, requests, is_batch=True)
        else:
            await request.accept()

    async def _note(self, token: SessionToken, message: Message) -> None:
        if message.is_response:
            await remote_session.send_answer(self.sessions, token.id, message)
        elif message.method == "notifications/cancelled":
            with contextlib.suppress(ValueError):
                number = read_object(message.params).get("requestId")
                await remote_session.cancel(self.sessions, token.id, number)

    async def listen(self, request: Request, principal: Principal) -> None:
        """Serve the stream of messages outside of requests. Raises `RefusedError`."""
        token = self._session_token(request, principal)
        if not request.takes_events:
            raise RefusedError(HTTPStatus.NOT_ACCEPTABLE, "a GET must accept text/event-stream")
        session = self.sessions.of(token.id)
        queue = open_stream(session)
        if queue is None:
            raise RefusedError(HTTPStatus.CONFLICT, "this session has a stream already")
        start = {"type": "http.response.start", "status": 200, "headers": [*EVENT_HEADERS]}
        self._introduce(session, principal)
        try:
            self.sessions.notifier.join(session.listener)
            await request.send(start)
            await _stream(request, queue)
        except RpcError as error:
            raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, error.message) from None
        finally:
            if session.stream is queue:
                session.stream = None
            if session.stream is None and not session.is_kept:
                self.sessions.notifier.leave(session.listener)
            self.sessions.rest(token.id)

    async def end(self, request: Request, principal: Principal) -> None:
        """End the client's session. Raises `RefusedError`."""
        await remote_session.end(self.sessions, self._session_token(request, principal).id)
        await Reply(request.send, takes_events=False).finish(b"")

    async def _begin(self, request: Request, principal: Principal, message: Message) -> None:
        try:
            version, capabilities, client = hello_of(message)
            introduction = await self.dispatcher.introduce(principal)
        except RpcError as error:
            body = write_error(message.id, error.code, error.message)
            await Reply(request.send, takes_events=False).finish(body)
            return
        token = self.tokens.make(
            subject=principal.account, client=client, version=version, capabilities=capabilities
        )
        headers = ((_SESSION.encode(), token.encode()),)
        reply = Reply(request.send, takes_events=False, headers=headers)
        await reply.finish(write_result(message.id, greeting(version, introduction)))

    async def _answer(
        self,
        request: Request,
        principal: Principal,
        token: SessionToken,
        messages: Sequence[Message],
        *,
        is_batch: bool = False,
    ) -> None:
        """Answer requests; the client cancels them by a notification, not by disconnecting."""
        reply = Reply(request.send, takes_events=request.takes_events)
        caller = called(principal, token.client)
        session = self.sessions.of(token.id)
        self._introduce(session, principal)
        level = session.listener.level
        client = Client(
            caller, token.version, token.capabilities, token.id, level, name=token.client
        )
        line = SessionLine(session, reply)

        async def respond(message: Message) -> bytes | None:
            body = await self._respond(request, message, client, line)
            if body is None and not request.takes_events:
                # A JSON reply needs a body; only an event stream can end without a response.
                body = write_error(message.id, CANCELLED, "Request cancelled")
            return body

        async def work() -> None:
            if is_batch:
                body = await answer_batch(messages, respond)
            else:
                body = await respond(messages[0])
            await (reply.finish(body) if body else reply.end())

        try:
            # In these versions a lost connection does not cancel the request.
            await watched(work, reply, request.left, self.patience)
        finally:
            self.sessions.rest(token.id)

    def _introduce(self, session: Session, principal: Principal) -> None:
        session.listener.subject = principal.account
        session.listener.is_local = not principal.is_known
        session.listener.server = self.dispatcher.router.alone

    async def _respond(
        self, request: Request, message: Message, client: Client, line: SessionLine
    ) -> bytes | None:
        """Return the response; a cancelled request gets none (MCP, cancellation)."""
        number = cast("Id", message.id)
        running = line.session.running
        body = None
        with anyio.CancelScope() as scope:
            running[number] = scope.cancel
            try:
                params = await read_parameters(message)
                refuse_false_headers(message, params, request.headers)
                body = (await self.dispatcher.answer(message, params, client, line)).body
            except RpcError as error:
                body = write_error(number, error.code, error.message, error.data)
            finally:
                running.pop(number, None)
        return body

    def _session_token(self, request: Request, principal: Principal) -> SessionToken:
        header = request.headers.get(_SESSION)
        if header is None:
            what = "the header Mcp-Session-Id is missing: send initialize first"
            raise RefusedError(HTTPStatus.BAD_REQUEST, what)
        token = self.tokens.read(header, subject=principal.account)
        if token is None or self.sessions.has_ended(token.id):
            what = "Session not found: begin a new one with initialize"
            raise RefusedError(HTTPStatus.NOT_FOUND, what)
        return token


async def _stream(request: Request, queue: "asyncio.Queue[bytes | None]") -> None:
    leaving = asyncio.ensure_future(request.left())
    try:
        while True:
            coming = asyncio.ensure_future(queue.get())
            waiting = {leaving, coming}
            await asyncio.wait(waiting, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                coming.cancel()
                return
            body = PING
            more = True
            if coming.done():
                message = coming.result()
                more = message is not None
                body = as_event(message) if message is not None else b""
            coming.cancel()
            await request.send({"type": "http.response.body", "body": body, "more_body": more})
            if not more:
                return
    finally:
        leaving.cancel()
