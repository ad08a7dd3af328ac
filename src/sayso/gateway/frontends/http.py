"""The HTTP transport: one endpoint for clients of every version (MCP, Streamable HTTP)."""

import logging
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import anyio
from starlette.types import Receive, Scope, Send

from sayso import access
from sayso.connect import (
    HANDSHAKE_VERSIONS,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    MODERN,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Message,
    RpcError,
    write_error,
)
from sayso.errors import StoreError
from sayso.gateway.frontends.dispatcher import SWITCHED_OFF, Dispatcher
from sayso.gateway.frontends.modern import alone, check_headers
from sayso.gateway.frontends.parameters import read_parameters
from sayso.gateway.frontends.reply import Reply, watched
from sayso.gateway.frontends.request import Identify, RefusedError, Request
from sayso.gateway.frontends.sessions import ModernLine
from sayso.gateway.frontends.stateful import StatefulFrontend
from sayso.policy import Principal

_log: Final = logging.getLogger(__name__)

_STATUS: Final = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
"""The HTTP status of each error code since 2026-07-28; older versions use 200 for all errors."""


@dataclass(frozen=True, slots=True)
class HttpFrontend:
    """The HTTP endpoint of one dispatcher. `identify` returns the caller."""

    dispatcher: Dispatcher
    identify: Identify
    stateful: StatefulFrontend

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            principal = await self.identify(scope)
            request = Request.of(scope, receive, send)
            if not self.dispatcher.admits(principal):
                await self._refuse(request, principal)
            await self._answer(request, principal)
        except RefusedError as error:
            await error.answer(send)
        except access.RefusedError as error:
            start = {"status": error.status, "headers": error.headers}
            await send({"type": "http.response.start", **start})
            await send({"type": "http.response.body", "body": error.body})
        except StoreError as error:
            _log.error("%s", error)
            what = "sayso cannot read its store"
            await RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, what).answer(send)

    async def _refuse(self, request: Request, principal: Principal) -> None:
        """Record the calls of a caller that is switched off, and raise `RefusedError`."""
        if request.verb == "POST":
            messages = await request.messages()
            if not isinstance(messages, list):
                messages = [messages]
            await self.dispatcher.record_refused(messages, principal)
        raise RefusedError(HTTPStatus.FORBIDDEN, SWITCHED_OFF)

    async def _answer(self, request: Request, principal: Principal) -> None:
        if request.verb == "POST":
            await self._post(request, principal)
        elif request.verb == "GET":
            await self.stateful.listen(request, principal)
        elif request.verb == "DELETE":
            await self.stateful.end(request, principal)
        else:
            allow = ((b"allow", b"GET, POST, DELETE"),)
            what = "MCP requests must be POST"
            raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, what, headers=allow)

    async def _post(self, request: Request, principal: Principal) -> None:
        message = await request.messages()
        version = request.headers.get("mcp-protocol-version")
        if isinstance(message, list):
            await self.stateful.take_all(request, principal, message)
        elif version is None or version in HANDSHAKE_VERSIONS:
            await self.stateful.take(request, principal, message)
        elif message.id is not None and message.method is not None:
            await self._answer_alone(request, principal, message)
        elif message.method is not None and version == MODERN:
            # This version defines no notifications from clients, but some clients send them.
            await request.accept()
        else:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the message must be a request")

    async def _answer_alone(self, request: Request, principal: Principal, message: Message) -> None:
        """Answer a request of 2026-07-28, which has no session."""
        reply = Reply(request.send, takes_events=request.takes_events)
        if message.method == "subscriptions/listen" and not request.takes_events:
            what = "subscriptions/listen must accept text/event-stream"
            raise RefusedError(HTTPStatus.NOT_ACCEPTABLE, what)
        try:
            params = await read_parameters(message)
            check_headers(message, params, request.headers)
            client = alone(params, principal)
        except RpcError as error:
            body = write_error(message.id, error.code, error.message, error.data)
            await reply.finish(body, _STATUS.get(error.code, 200))
            return

        async def work() -> None:
            tool = None
            try:
                if message.method == "tools/call":
                    router = self.dispatcher.router
                    caller = client.principal
                    headers = request.headers
                    tool = await router.check_parameters(params, caller, headers)
            except RpcError as error:
                body = write_error(message.id, error.code, error.message, error.data)
                await reply.finish(body, _STATUS.get(error.code, 200))
                return
            line = ModernLine(reply)
            response = await self.dispatcher.answer(message, params, client, line, tool=tool)
            await reply.finish(response.body, _STATUS.get(response.code or 0, 200))

        # Since 2026-07-28 a client cancels by closing the stream of its answer.
        with anyio.CancelScope() as scope:
            await watched(work, reply, request.left, self.stateful.patience, scope.cancel)
