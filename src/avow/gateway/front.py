"""The front door: MCP in both eras over one endpoint. The only file that knows the server SDK.

The SDK reads and frames messages; what it would sieve out of results (unknown keys, arrays) is
kept by answering from a middleware, whose results go out as they are.
"""

import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import methods
from pydantic import BaseModel

from avow import __version__
from avow.connect import RpcError
from avow.connect.envelope import HANDSHAKE_VERSIONS
from avow.errors import StoreError
from avow.gateway.passage import RESOURCE_NOT_FOUND, Passage, Request
from avow.guard import UnknownToolError
from avow.policy import LOCAL, Principal
from avow.serve.exchange import Request as Exchange
from avow.serve.exchange import client_name, dress, elicit_of, rounds_of

_log: Final = logging.getLogger(__name__)

Route = Callable[[Request], Awaitable[dict[str, Any]]]

_PARAMS: Final[Mapping[str, type[BaseModel]]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "completion/complete": types.CompleteRequestParams,
}
_LIST_METHODS: Final = frozenset(name for name in _PARAMS if name.endswith("/list"))
_META: Final = "io.modelcontextprotocol/"


@dataclass(frozen=True, slots=True)
class _Door:
    """The middleware that answers what the gateway serves, and leaves the rest to the SDK."""

    passage: Passage
    server: Server[Any]

    async def __call__(self, ctx: Exchange, call_next: CallNext) -> HandlerResult:
        route = self.passage.routes.get(ctx.method)
        if route is None or ctx.request_id is None:
            return await call_next(ctx)
        self._check(ctx)
        try:
            result = await route(_request(ctx))
        except UnknownToolError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        except RpcError as error:
            raise MCPError(_code(ctx, error.code), error.message, error.data) from None
        except StoreError as error:
            _log.error("%s", error)
            what = "Nothing was run: avow cannot write its log."
            raise MCPError(types.INTERNAL_ERROR, what) from None
        except Exception as error:  # the edge of a request: the client learns nothing of our inside
            incident = uuid.uuid4().hex[:12]
            _log.exception("incident %s", incident)
            what = f"Something went wrong inside avow (incident {incident})."
            raise MCPError(types.INTERNAL_ERROR, what) from error
        return dress(ctx, result, self.server)

    def _check(self, ctx: Exchange) -> None:
        """Refuse what the SDK would refuse: it does so only for requests that reach it."""
        if ctx.protocol_version in HANDSHAKE_VERSIONS and ctx.session.client_params is None:
            raise MCPError(types.INVALID_PARAMS, "Send initialize first")
        try:
            methods.validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
        except KeyError:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method) from None


def _code(ctx: Exchange, code: int) -> int:
    """The code of an error in the client's version: 2026-07-28 has none for a missing resource."""
    is_gone = code == RESOURCE_NOT_FOUND and ctx.protocol_version not in HANDSHAKE_VERSIONS
    return types.INVALID_PARAMS if is_gone else code


def make_server(passage: Passage) -> Server[Any]:
    """The SDK's server for the gateway, to be served over any transport."""
    server: Server[Any] = Server(
        "avow",
        version=__version__,
        title="avow gateway",
        instructions=(
            "Calls that may destroy something wait until a person approves them outside this "
            "conversation. A tool error that says so is not a failure: tell the person, then make "
            "the same call again."
        ),
        get_tool_input_schema=passage.input_schema,
    )
    for method, params in _PARAMS.items():
        server.add_request_handler(method, params, _never)
    server.middleware.append(_Door(passage, server))
    return server


def only_from(host: str) -> TransportSecuritySettings:
    """Which `Host` and `Origin` a request may name: the loopback names and `host`.

    Said in full: the SDK by itself checks nothing for other loopback addresses (127.0.0.2).
    """
    names = dict.fromkeys(("127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host))
    return TransportSecuritySettings(
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"http://{name}:*" for name in names],
    )


async def _never(_ctx: Exchange, _params: Any) -> dict[str, Any]:
    """Stands in the registry so that the capability is announced; the middleware answers first."""
    raise MCPError(types.INTERNAL_ERROR, "the gateway's middleware is missing")


def _request(ctx: Exchange) -> Request:
    params = dict(ctx.params or {})
    return Request(
        method=ctx.method,
        params=params,
        version=ctx.protocol_version,
        principal=Principal(LOCAL, client=client_name(ctx)),
        progress=ctx.session.report_progress,
        elicit=elicit_of(ctx),
        rounds=rounds_of(ctx),
    )
