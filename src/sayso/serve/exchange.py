"""What a request says of its client, and how that client can be asked; what an answer must wear."""

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
    """One request on its way, and the rest of the server's own chain.

    `function` is what the framework held for the tool when it was looked at last.
    """

    ctx: Request
    then: CallNext
    function: Callable[..., Any] | None = None


def client_name(ctx: Request) -> str:
    """What the client calls itself: in each request since 2026-07-28, in the handshake before."""
    known = ctx.session.client_params
    if ctx.protocol_version in HANDSHAKE_VERSIONS and known is not None:
        name: Any = known.client_info.name
    else:
        name = as_object(_meta_of(ctx).get(f"{META}clientInfo")).get("name")
    if not isinstance(name, str) or not name:
        return "unknown"
    return name[:128]


def has_begun(ctx: Request) -> bool:
    """Whether the handshake is over, where the client's version has one; the SDK looks later."""
    return ctx.session._connection.initialize_accepted  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the SDK has no other way


def elicit_of(ctx: Request) -> "Elicit | None":
    """How an older client is asked: by a request of the server, while its call waits."""
    known = ctx.session.client_params
    if ctx.protocol_version not in HANDSHAKE_VERSIONS or known is None:
        return None
    said = known.capabilities.elicitation
    if said is None:
        return None
    from sayso.approvals import URL, Elicit, modes_of  # noqa: PLC0415 - for who can be asked

    modes = modes_of(said.model_dump(mode="json", by_alias=True), ctx.protocol_version)
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
    """How a client of 2026-07-28 is asked: by an answer that wants the call made again."""
    said = as_object(_meta_of(ctx).get(_CAPABILITIES)).get("elicitation")
    if ctx.protocol_version in HANDSHAKE_VERSIONS or said is None:
        return None
    from sayso.approvals import Rounds, modes_of  # noqa: PLC0415 - as above

    modes = modes_of(said, ctx.protocol_version)
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


def dress(ctx: Request, result: Mapping[str, Any], server: Server[Any]) -> dict[str, Any]:
    """What 2026-07-28 wants around every result; older clients are spared it."""
    # What a server behind says of its own connection is not about this one.
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


def harmless(ctx: Request) -> Request:
    """What the SDK is given to refuse before the handshake: not a call, should it not refuse."""
    return replace(ctx, method="tools/list", params=None)


def brought(ctx: Request) -> dict[str, Any]:
    """What a client brings to the tool itself besides arguments: answers to the tool's questions.

    Not what answers a question of sayso's; that is for the guard.
    """
    params = as_object(ctx.params)
    if INPUT in as_object(params.get("inputResponses")):
        return {}
    return {key: params[key] for key in _ROUND if params.get(key) is not None}


def sent(ctx: Request, call: "Call") -> Request:
    """The request as it goes on to the framework: what was judged and bound, and nothing else.

    Of `_meta` that is what the guard sends on, and what says how this client is connected. That
    it has the tasks extension is left out: what a call brings later would pass by the guard.
    """
    params = as_object(ctx.params)
    connection = _connection(ctx)
    if said := as_object(as_object(connection.get(_CAPABILITIES)).get("extensions")):
        kept = {key: value for key, value in said.items() if key != _TASKS}
        connection[_CAPABILITIES] = {**connection[_CAPABILITIES], "extensions": kept}
    meta = {**connection, **as_object(call.sent_meta.get("_meta"))}
    task = {key: params[key] for key in ("task",) if key in params}
    own = {"name": call.name, "arguments": dict(call.arguments), **call.request.brought, **task}
    known = {key: value for key, value in as_object(ctx.meta).items() if key in _SDK_META}
    lifted = {**known, **meta}
    if meta:
        own["_meta"] = meta
    return replace(ctx, params=own, meta=cast("Any", lifted or None))


def meta_only(ctx: Request) -> dict[str, Any] | None:
    """The envelope of a call, for a list that is asked for on its behalf."""
    meta = _connection(ctx)
    if not meta:
        return None
    return {"_meta": meta}


def as_wire(result: HandlerResult) -> dict[str, Any]:
    """What a handler gives, as it goes out."""
    if result is None or isinstance(result, dict):
        return result or {}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def as_object(value: object) -> Mapping[str, Any]:
    """`value` if it is an object; what is none holds nothing."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _connection(ctx: Request) -> dict[str, Any]:
    given = _meta_of(ctx)
    return {key: given[key] for key in _CONNECTION if key in given}


def _meta_of(ctx: Request) -> Mapping[str, Any]:
    return as_object(as_object(ctx.params).get("_meta"))
