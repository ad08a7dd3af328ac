"""Requests of clients: their metadata, elicitation through the client, and results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server

from sayso.connect import HANDSHAKE_VERSIONS

if TYPE_CHECKING:
    from sayso.approvals import Elicit, Rounds
    from sayso.guard import Call

META: Final = "io.modelcontextprotocol/"
INPUT: Final = "io.sayso/approval"
_CAPABILITIES: Final = f"{META}clientCapabilities"
_TASKS: Final = f"{META}tasks"
_ROUND: Final = ("inputResponses", "requestState")
_CONNECTION: Final = (
    "progressToken",
    f"{META}protocolVersion",
    f"{META}clientInfo",
    _CAPABILITIES,
)
_SDK_META: Final = ("progress_token",)

Request = ServerRequestContext[Any, Any]


@dataclass(slots=True)
class ActiveRequest:
    """A request being handled, and the rest of the middleware chain (`then`).

    `function` is the framework's function of the tool when it was last looked up.
    """

    ctx: Request
    then: CallNext
    function: Callable[..., Any] | None = None


def client_name(ctx: Request) -> str:
    """Return the client's name, from the request (2026-07-28) or the handshake (older versions)."""
    known = ctx.session.client_params
    if ctx.protocol_version in HANDSHAKE_VERSIONS and known is not None:
        name: Any = known.client_info.name
    else:
        name = as_object(_meta_of(ctx).get(f"{META}clientInfo")).get("name")
    if not isinstance(name, str) or not name:
        return "unknown"
    return name[:128]


def has_begun(ctx: Request) -> bool:
    """Return whether the handshake is complete or not needed. (The SDK checks this only later)."""
    return ctx.session._connection.initialize_accepted  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the SDK has no other way


def elicit_of(ctx: Request) -> "Elicit | None":
    """Return elicitation for an older client (a request during the call), or `None`."""
    known = ctx.session.client_params
    if ctx.protocol_version not in HANDSHAKE_VERSIONS or known is None:
        return None
    capability = known.capabilities.elicitation
    if capability is None:
        return None
    from sayso.approvals import URL, Elicit, modes_of  # noqa: PLC0415 - only if it can elicit

    modes = modes_of(capability.model_dump(mode="json", by_alias=True), ctx.protocol_version)
    if not modes:
        return None
    session = ctx.session
    request = ctx.request_id

    async def send(params: Mapping[str, Any]) -> Mapping[str, Any]:
        message: str = params["message"]
        if params["mode"] == URL:
            asked = session.elicit_url(message, params["url"], params["elicitationId"], request)
        else:
            asked = session.elicit_form(message, dict(params["requestedSchema"]), request)
        return (await asked).model_dump(mode="json", by_alias=True)

    async def complete(elicitation: str) -> None:
        await session.send_elicit_complete(elicitation, request)

    return Elicit(send, modes, complete)


def rounds_of(ctx: Request) -> "Rounds | None":
    """Return elicitation for a 2026-07-28 client (the result asks for another call), or `None`."""
    capability = as_object(_meta_of(ctx).get(_CAPABILITIES)).get("elicitation")
    if ctx.protocol_version in HANDSHAKE_VERSIONS or capability is None:
        return None
    from sayso.approvals import Rounds, modes_of  # noqa: PLC0415 - as above

    modes = modes_of(capability, ctx.protocol_version)
    if not modes:
        return None
    params = as_object(ctx.params)
    responses = params.get("inputResponses")
    state = params.get("requestState")
    return Rounds(
        as_object(responses) if responses is not None else None,
        state if isinstance(state, str) else None,
        modes,
    )


def finish_result(ctx: Request, result: Mapping[str, Any], server: Server[Any]) -> dict[str, Any]:
    """Add the fields that 2026-07-28 requires in every result; remove them for older clients."""
    # Drop metadata about a connection to another server, which does not apply to this one.
    given = as_object(result.get("_meta"))
    meta = {key: value for key, value in given.items() if not key.startswith(META)}
    if ctx.protocol_version in HANDSHAKE_VERSIONS:
        kept = {key: value for key, value in result.items() if key not in ("resultType", "_meta")}
        if meta:
            kept["_meta"] = meta
        return kept
    meta[f"{META}serverInfo"] = server.server_info_stamp
    dressed: dict[str, Any] = {"resultType": "complete"}
    if ctx.method.endswith("/list") or ctx.method == "resources/read":
        dressed |= {"ttlMs": 0, "cacheScope": "private"}
    return {**dressed, **result, "_meta": meta}


def as_list_request(ctx: Request) -> Request:
    """Return a list request in place of a call, so that the SDK refuses it before the handshake."""
    return replace(ctx, method="tools/list", params=None)


def client_input(ctx: Request) -> dict[str, Any]:
    """Return the client's answers to the tool's own questions, without answers for the guard."""
    params = as_object(ctx.params)
    if INPUT in as_object(params.get("inputResponses")):
        return {}
    return {key: params[key] for key in _ROUND if params.get(key) is not None}


def forwarded(ctx: Request, call: "Call") -> Request:
    """Return the request for the framework, with only the data for which the guard decided.

    Its `_meta` has the keys that the guard forwards and those about the connection. The tasks
    extension is left out, because the later requests of a task would bypass the guard.
    """
    params = as_object(ctx.params)
    connection = _connection(ctx)
    if extensions := as_object(as_object(connection.get(_CAPABILITIES)).get("extensions")):
        kept = {key: value for key, value in extensions.items() if key != _TASKS}
        connection[_CAPABILITIES] = {**connection[_CAPABILITIES], "extensions": kept}
    meta = {**connection, **as_object(call.sent_meta.get("_meta"))}
    task = {key: params[key] for key in ("task",) if key in params}
    own = {"name": call.name, "arguments": dict(call.arguments), **call.request.brought, **task}
    known = {key: value for key, value in as_object(ctx.meta).items() if key in _SDK_META}
    lifted = {**known, **meta}
    if meta:
        own["_meta"] = meta
    return replace(ctx, params=own, meta=cast("Any", lifted or None))


def list_params(ctx: Request) -> dict[str, Any] | None:
    """Return the parameters of a list request that is made on behalf of a call."""
    meta = _connection(ctx)
    return {"_meta": meta} if meta else None


def as_wire(result: HandlerResult) -> dict[str, Any]:
    """Return a handler's result in wire form."""
    if result is None or isinstance(result, dict):
        return result or {}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def as_object(value: object) -> Mapping[str, Any]:
    """Return `value` if it is a JSON object, else an empty object."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _connection(ctx: Request) -> dict[str, Any]:
    given = _meta_of(ctx)
    return {key: given[key] for key in _CONNECTION if key in given}


def _meta_of(ctx: Request) -> Mapping[str, Any]:
    return as_object(as_object(ctx.params).get("_meta"))
