"""The door over HTTP: one endpoint for clients of every version (MCP, Streamable HTTP)."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import anyio
from starlette.types import Receive, Scope, Send

from avow.connect.envelope import HANDSHAKE_VERSIONS, LATEST_HANDSHAKE
from avow.connect.message import Message, read_message, read_object, write_error, write_result
from avow.connect.rpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    RpcError,
)
from avow.gateway.doors.client import Client, name_of
from avow.gateway.doors.desk import CAPABILITIES, INSTRUCTIONS, SERVER_INFO, Desk
from avow.gateway.doors.modern import HEADER_MISMATCH, UNSUPPORTED_VERSION, client_of, refuse_version
from avow.gateway.doors.parameters import parameters_of
from avow.gateway.doors.reply import EVENT_HEADERS, PING_SECONDS, Header, Reply, as_event, watched
from avow.gateway.doors.sessions import ModernLine, Session, SessionLine, Sessions, open_stream
from avow.gateway.doors.ticket import Ticket, Tickets
from avow.policy import Principal

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of one request."""

_SESSION: Final = "mcp-session-id"
_EVENTS: Final = "text/event-stream"
_ROUTING: Final = frozenset({b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"mcp-session-id"})
_CANCELLED: Final = -32800

_STATUS: Final = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
"""The status of an error since 2026-07-28; before, an error is an answer as any other."""


class RefusedError(Exception):
    """A request that is no conversation: it gets a status, and an error where it asked for one."""

    def __init__(
        self, status: int, text: str, code: int = INVALID_REQUEST, headers: tuple[Header, ...] = ()
    ) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.code = code
        self.headers = headers


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, as far as it is of use here."""

    verb: str
    headers: Mapping[str, str]
    receive: Receive
    send: Send

    @property
    def takes_events(self) -> bool:
        """Whether the client takes a stream in the place of one message."""
        accept = self.headers.get("accept", "")
        return _EVENTS in accept or "*/*" in accept or "text/*" in accept


Identify = Callable[[Mapping[str, str]], Principal]
"""Who a request comes from. Raises `RefusedError`."""


@dataclass(slots=True)
class HttpDoor:
    """Answers HTTP requests by one desk. `identify` tells who calls."""

    desk: Desk
    tickets: Tickets
    identify: Identify
    sessions: Sessions = field(default_factory=Sessions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            request = Request(scope["method"], _headers(scope), receive, send)
            principal = self.identify(request.headers)
            match request.verb:
                case "POST":
                    await self._post(request, principal)
                case "GET":
                    await self._get(request, principal)
                case "DELETE":
                    await self._delete(request, principal)
                case _:
                    allow = ((b"allow", b"GET, POST, DELETE"),)
                    raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "MCP is spoken by POST", headers=allow)
        except RefusedError as error:
            reply = Reply(send, takes_events=False, headers=error.headers)
            await reply.finish(write_error(None, error.code, error.text), error.status)

    async def _post(self, request: Request, principal: Principal) -> None:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            what = "the content type must be application/json"
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, what)
        message = _message(await _body(request))
        version = request.headers.get("mcp-protocol-version")
        if version is None or version in HANDSHAKE_VERSIONS:
            await self._post_in_session(request, principal, message)
        elif message.method is None or message.id is None:
            # This version has nothing that a client tells; some tell it all the same.
            if message.method is None or version != "2026-07-28":
                raise RefusedError(HTTPStatus.BAD_REQUEST, "only requests are taken here")
            await _accepted(request)
        else:
            await self._post_alone(request, principal, message)

    async def _post_alone(self, request: Request, principal: Principal, message: Message) -> None:
        """A request of 2026-07-28: all that there is to know is in it."""
        reply = Reply(request.send, takes_events=request.takes_events)
        try:
            client = client_of(message, parameters_of(message), request.headers, principal)
        except RpcError as error:
            body = write_error(message.id, error.code, error.message, error.data)
            await reply.finish(body, _STATUS.get(error.code, 200))
            return
        line = ModernLine(reply)

        async def work() -> None:
            body, code = await self.desk.answer(message, client, line)
            await reply.finish(body, 200 if code is None else _STATUS.get(code, 200))

        await watched(work, reply, request.receive, ends_with_client=True)

    async def _post_in_session(
        self, request: Request, principal: Principal, message: Message
    ) -> None:
        if message.method == "initialize" and message.id is not None:
            await self._initialize(request, principal, message)
            return
        ticket = self._ticket(request, principal)
        if message.is_response:
            session = self.sessions.known(ticket.id)
            if session is not None:
                session.answered(message)
            await _accepted(request)
        elif message.id is None:
            self._note(ticket, message)
            await _accepted(request)
        else:
            await self._answer(request, principal, ticket, message)

    async def _initialize(self, request: Request, principal: Principal, message: Message) -> None:
        try:
            params = read_object(message.params)
            wanted, offered = params.get("protocolVersion"), params.get("capabilities")
            if not isinstance(wanted, str) or not isinstance(offered, dict):
                raise ValueError  # noqa: TRY301 - said below
        except ValueError:
            what = "initialize says its protocolVersion and its capabilities"
            body = write_error(message.id, INVALID_PARAMS, what)
            await Reply(request.send, takes_events=False).finish(body)
            return
        version = wanted if wanted in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE
        _, token = self.tickets.make(
            subject=principal.subject,
            client=name_of(params.get("clientInfo")),
            version=version,
            capabilities=offered,
        )
        result = {
            "protocolVersion": version,
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER_INFO,
            "instructions": INSTRUCTIONS,
        }
        headers = ((_SESSION.encode(), token.encode()),)
        reply = Reply(request.send, takes_events=False, headers=headers)
        await reply.finish(write_result(message.id, result))

    async def _answer(
        self, request: Request, principal: Principal, ticket: Ticket, message: Message
    ) -> None:
        """A request within a session; the client may cancel it by a notification."""
        session = self.sessions.of(ticket.id)
        reply = Reply(request.send, takes_events=request.takes_events)
        caller = Principal(
            principal.subject, ticket.client, principal.scopes, principal.roles, principal.is_local
        )
        client = Client(caller, ticket.version, ticket.capabilities)
        number = message.id
        assert number is not None  # noqa: S101 - it is a request

        async def work() -> None:
            with anyio.CancelScope() as scope:
                session.running[number] = scope.cancel
                body, _ = await self.desk.answer(message, client, SessionLine(session, reply))
            if scope.cancelled_caught:
                body = write_error(number, _CANCELLED, "Request cancelled")
            await reply.finish(body)

        try:
            await watched(work, reply, request.receive, ends_with_client=False)
        finally:
            session.running.pop(number, None)
            self.sessions.rest(ticket.id)

    def _note(self, ticket: Ticket, message: Message) -> None:
        """What a client tells: only that it wants a request no more is of use here."""
        session = self.sessions.known(ticket.id)
        if session is not None and message.method == "notifications/cancelled":
            try:
                session.cancel(read_object(message.params).get("requestId"))
            except ValueError:
                return

    async def _get(self, request: Request, principal: Principal) -> None:
        """The stream on which a client hears what belongs to none of its requests."""
        ticket = self._ticket(request, principal)
        if not request.takes_events:
            raise RefusedError(HTTPStatus.NOT_ACCEPTABLE, "a GET must accept text/event-stream")
        session = self.sessions.of(ticket.id)
        queue = open_stream(session)
        if queue is None:
            raise RefusedError(HTTPStatus.CONFLICT, "this session has a stream already")
        headers = [*EVENT_HEADERS]
        await request.send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            await _stream(request, queue)
        finally:
            session.stream = None
            self.sessions.rest(ticket.id)

    async def _delete(self, request: Request, principal: Principal) -> None:
        self.sessions.end(self._ticket(request, principal).id)
        await Reply(request.send, takes_events=False).finish(b"", 200)

    def _ticket(self, request: Request, principal: Principal) -> Ticket:
        token = request.headers.get(_SESSION)
        if token is None:
            what = "the header Mcp-Session-Id is missing: begin with initialize"
            raise RefusedError(HTTPStatus.BAD_REQUEST, what)
        ticket = self.tickets.read(token, subject=principal.subject)
        if ticket is None or self.sessions.has_ended(ticket.id):
            what = "Session not found: begin a new one with initialize"
            raise RefusedError(HTTPStatus.NOT_FOUND, what)
        return ticket


def _headers(scope: Scope) -> dict[str, str]:
    """Headers by their name in small letters. Raises `RefusedError` for one that may not be twice."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1")
        if key in found and name in _ROUTING:
            # Who reads the first and who reads the last would see two different requests.
            raise RefusedError(HTTPStatus.BAD_REQUEST, f"the header {key} stands there twice", HEADER_MISMATCH)
        found[key] = value.decode("latin-1") if key not in found else f"{found[key]}, {value.decode('latin-1')}"
    return found


async def _body(request: Request) -> bytes:
    if int(request.headers.get("content-length", "0")) > MOST_BYTES:
        raise _too_large()
    pieces: list[bytes] = []
    size = 0
    while True:
        part = await request.receive()
        if part["type"] == "http.disconnect":
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the request broke off")
        piece: bytes = part.get("body", b"")
        size += len(piece)
        if size > MOST_BYTES:
            raise _too_large()
        pieces.append(piece)
        if not part.get("more_body"):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _too_large() -> RefusedError:
    what = f"a request holds at most {MOST_BYTES} bytes"
    return RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, what)


def _message(body: bytes) -> Message:
    try:
        return read_message(body)
    except ValueError:
        is_json = body.lstrip()[:1] in (b"{", b"[")
        code = INVALID_REQUEST if is_json else PARSE_ERROR
        what = "the body must be one JSON-RPC 2.0 message"
        raise RefusedError(HTTPStatus.BAD_REQUEST, what, code) from None


async def _accepted(request: Request) -> None:
    headers = [(b"content-length", b"0")]
    await request.send({"type": "http.response.start", "status": 202, "headers": headers})
    await request.send({"type": "http.response.body", "body": b""})


async def _stream(request: Request, queue: "asyncio.Queue[bytes]") -> None:
    """Send what comes until the client leaves."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    leaving = asyncio.ensure_future(left())
    try:
        while not leaving.done():
            coming = asyncio.ensure_future(queue.get())
            await asyncio.wait([leaving, coming], timeout=PING_SECONDS, return_when="FIRST_COMPLETED")
            body = as_event(coming.result()) if coming.done() else b": ping\n\n"
            coming.cancel()
            if not leaving.done():
                await request.send({"type": "http.response.body", "body": body, "more_body": True})
    finally:
        leaving.cancel()
