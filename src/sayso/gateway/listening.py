"""Clients' subscriptions to log messages, and to changes of lists and resources."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, cast

from sayso.connect import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from sayso.errors import SaysoError
from sayso.gateway.notifications import LEVELS, LISTS_CHANGED, Backlog, Listener
from sayso.gateway.request import Request
from sayso.gateway.subscriptions import ACKNOWLEDGED
from sayso.gateway.upstreams import Upstreams

SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"

_MAX_FOLLOWED: Final = 1000
_MAX_URI_CHARACTERS: Final = 2048


async def set_level(upstreams: Upstreams, request: Request) -> dict[str, Any]:
    """Set the client's log level: the client then gets messages of this level and above."""
    level = request.params["level"]
    listener = _session(request)
    if level not in LEVELS:
        raise RpcError(INVALID_PARAMS, f"level must be one of {', '.join(LEVELS)}")
    listener.level = level
    upstreams.notifier.join(listener)
    for upstream in upstreams.reachable(request.principal):
        with suppress(SaysoError):
            await upstream.of(request.principal).set_log_level(level)
    return {}


async def subscribe(upstreams: Upstreams, request: Request) -> dict[str, Any]:
    """Subscribe the client to changes of a resource."""
    await _follow(upstreams, request, _session(request), request.params["uri"])
    return {}


async def unsubscribe(upstreams: Upstreams, request: Request) -> dict[str, Any]:
    """Unsubscribe the client from changes of a resource."""
    address = _session(request).uris.pop(request.params["uri"], None)
    if address is not None:
        upstreams.notifier.moved(address.server)
    return {}


async def listen(upstreams: Upstreams, request: Request, alone: str | None) -> dict[str, Any]:
    """Serve a stream of changes until the client leaves or the gateway ends (2026-07-28).

    A client that reads too slowly is disconnected, so that it reconnects and reads all lists again.
    """
    caller = request.caller
    choice = request.params["notifications"]
    if caller is None or not request.is_modern:
        raise RpcError(METHOD_NOT_FOUND, "Method not found", request.method)
    queue = Backlog[tuple[str, Mapping[str, Any]]]()

    def tell(method: str, params: Mapping[str, Any]) -> None:
        if queue.holds((method, params)):
            return
        if queue.full():
            upstreams.notifier.leave(listener)
            queue.get_nowait()
            queue.put_nowait(("", {}))
        else:
            queue.put_nowait((method, params))

    kinds = {key: method for key, method in LISTS_CHANGED.items() if choice.get(key) is True}
    is_local = not request.principal.is_known
    listener = Listener(tell, request.principal.account, is_local, hears_logs=False)
    listener.server = alone
    listener.kinds = frozenset(kinds.values())
    meta = {SUBSCRIPTION: request.id}
    upstreams.notifier.join(listener)
    try:
        uris = await _followed(upstreams, request, listener, choice.get("resourceSubscriptions"))
        honored: dict[str, Any] = dict.fromkeys(kinds, True)
        if uris:
            honored["resourceSubscriptions"] = uris
        await caller.notify(ACKNOWLEDGED, {"notifications": honored, "_meta": meta})
        while (message := await queue.get())[0]:
            await caller.notify(message[0], {**message[1], "_meta": meta})
    finally:
        upstreams.notifier.leave(listener)
    return {"_meta": meta}


async def _followed(
    upstreams: Upstreams, request: Request, listener: Listener, values: object
) -> list[str]:
    uris: list[str] = []
    if isinstance(values, list):
        for uri in cast("list[object]", values)[:_MAX_FOLLOWED]:
            if isinstance(uri, str):
                with suppress(RpcError, SaysoError):
                    await _follow(upstreams, request, listener, uri)
                    uris.append(uri)
    return uris


async def _follow(upstreams: Upstreams, request: Request, listener: Listener, uri: str) -> None:
    address = await upstreams.of(request.principal).find_resource(uri)
    if address is None:
        raise RpcError(INVALID_PARAMS, f"Resource not found: {uri}")
    if len(uri) > _MAX_URI_CHARACTERS:
        raise RpcError(INVALID_PARAMS, f"uri must have at most {_MAX_URI_CHARACTERS} characters")
    if len(listener.uris) >= _MAX_FOLLOWED or not upstreams.notifier.may_follow(listener.subject):
        raise RpcError(INVALID_PARAMS, f"at most {_MAX_FOLLOWED} resources can be followed")
    upstreams.notifier.join(listener)
    listener.uris[uri] = address
    try:
        await upstreams.owner(address.server).of(request.principal).follow(address.uri)
    except BaseException:
        listener.uris.pop(uri, None)
        raise


def _session(request: Request) -> Listener:
    if request.listener is None:
        raise RpcError(METHOD_NOT_FOUND, "Method not found", request.method)
    return request.listener
