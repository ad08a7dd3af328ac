"""The front door: MCP in both eras over one endpoint. The only file that knows the server SDK.

The SDK reads and frames messages; what it would sieve out of results (unknown keys, arrays) is
kept by answering from a middleware, whose results go out as they are.
"""

import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import methods
from pydantic import BaseModel

from avow import __version__
from avow.approvals import Elicit, Rounds
from avow.connect import RpcError
from avow.connect.envelope import HANDSHAKE_VERSIONS
from avow.errors import StoreError
from avow.gateway.passage import RESOURCE_NOT_FOUND, Passage, Request
from avow.guard import UnknownToolError
from avow.policy import LOCAL, Principal

_log: Final = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]
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

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
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
        return self._dress(ctx, result)

    def _check(self, ctx: Context) -> None:
        """Refuse what the SDK would refuse: it does so only for requests that reach it."""
        if ctx.protocol_version in HANDSHAKE_VERSIONS and ctx.session.client_params is None:
            raise MCPError(types.INVALID_PARAMS, "Send initialize first")
        try:
            methods.validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
        except KeyError:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method) from None

    def _dress(self, ctx: Context, result: dict[str, Any]) -> dict[str, Any]:
        """What 2026-07-28 wants around every result; older clients are spared it."""
        # What a server behind says of its own connection is not about this one.
        given = _object(result.get("_meta"))
        meta = {key: value for key, value in given.items() if not key.startswith(_META)}
        if ctx.protocol_version in HANDSHAKE_VERSIONS:
            kept = {key: one for key, one in result.items() if key not in ("resultType", "_meta")}
            return {**kept, "_meta": meta} if meta else kept
        meta[f"{_META}serverInfo"] = self.server.server_info_stamp
        fresh = {"ttlMs": 0, "cacheScope": "private"} if ctx.method in _CACHEABLE else {}
        return {"resultType": "complete", **fresh, **result, "_meta": meta}


def _code(ctx: Context, code: int) -> int:
    """The code of an error in the client's version: 2026-07-28 has none for a missing resource."""
    is_gone = code == RESOURCE_NOT_FOUND and ctx.protocol_version not in HANDSHAKE_VERSIONS
    return types.INVALID_PARAMS if is_gone else code


_CACHEABLE: Final = _LIST_METHODS | {"resources/read"}


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


async def _never(_ctx: Context, _params: Any) -> dict[str, Any]:
    """Stands in the registry so that the capability is announced; the middleware answers first."""
    raise MCPError(types.INTERNAL_ERROR, "the gateway's middleware is missing")


def _request(ctx: Context) -> Request:
    params = dict(ctx.params or {})
    return Request(
        method=ctx.method,
        params=params,
        version=ctx.protocol_version,
        principal=Principal(LOCAL, client=_client_name(ctx, params)),
        progress=ctx.session.report_progress,
        elicit=_elicit(ctx),
        rounds=_rounds(ctx, params),
    )


def _elicit(ctx: Context) -> Elicit | None:
    """How an older client is asked: by a request of the server, while its call waits."""
    known = ctx.session.client_params
    if ctx.protocol_version not in HANDSHAKE_VERSIONS or known is None:
        return None
    if known.capabilities.elicitation is None:
        return None

    async def elicit(params: Mapping[str, Any]) -> Mapping[str, Any]:
        result = await ctx.session.elicit_form(
            params["message"], dict(params["requestedSchema"]), ctx.request_id
        )
        return result.model_dump(mode="json", by_alias=True)

    return elicit


def _rounds(ctx: Context, params: Mapping[str, Any]) -> Rounds | None:
    """How a client of 2026-07-28 is asked: by an answer that wants the call made again."""
    capabilities = _object(_object(params.get("_meta")).get(f"{_META}clientCapabilities"))
    if ctx.protocol_version in HANDSHAKE_VERSIONS or "elicitation" not in capabilities:
        return None
    responses, state = params.get("inputResponses"), params.get("requestState")
    return Rounds(
        _object(responses) if responses is not None else None,
        state if isinstance(state, str) else None,
    )


def _client_name(ctx: Context, params: Mapping[str, Any]) -> str:
    """What the client calls itself: in each request since 2026-07-28, in the handshake before."""
    if ctx.protocol_version in HANDSHAKE_VERSIONS and ctx.session.client_params is not None:
        name: Any = ctx.session.client_params.client_info.name
    else:
        name = _object(_object(params.get("_meta")).get(f"{_META}clientInfo")).get("name")
    return name[:128] if isinstance(name, str) and name else "unknown"


def _object(value: object) -> Mapping[str, Any]:
    """`value` if it is an object; what is none holds nothing."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
