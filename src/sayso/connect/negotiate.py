"""Negotiation of the protocol version: `server/discover` first, the handshake otherwise."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.connect.envelope import HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, MODERN, Envelope
from sayso.connect.rpc import UNSUPPORTED_VERSION, Fault, RpcError
from sayso.errors import NotMcpError

DISCOVER_SECONDS: Final = 5.0
"""The timeout of `server/discover`; some old servers never answer it."""

_MAY_BE_OLD: Final = (None, Fault.TIMED_OUT, Fault.REFUSED, Fault.LOST)
"""An old server may answer `server/discover` with any error, or not at all
(MCP 2026-07-28, lifecycle, backward compatibility)."""

Send = Callable[[str, Mapping[str, Any], Envelope, float], Awaitable[dict[str, Any]]]
Notify = Callable[[str, Envelope], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Greeting:
    """A server's introduction of itself, as received."""

    envelope: Envelope
    server: Mapping[str, Any]
    capabilities: Mapping[str, Any]
    instructions: str | None


async def negotiate(
    send: Send,
    notify: Notify,
    client_info: Mapping[str, Any],
    *,
    capabilities: Mapping[str, Any],
    timeout: float,
    is_old: bool = False,
) -> Greeting:
    """Agree on a protocol version with the server behind `send`; with `is_old`, by handshake only.

    A server with the handshake gets `capabilities`; newer servers get them with each request.
    Raises `NotMcpError` if there is no common version, and what `send` raises.
    """
    hello = Envelope(LATEST_HANDSHAKE, client_info, capabilities)
    if is_old:
        return await _handshake(send, notify, hello, timeout=timeout)
    patience = min(timeout / 2, DISCOVER_SECONDS)
    try:
        return await _discover(send, notify, hello, timeout=patience)
    except RpcError as error:
        if error.fault not in _MAY_BE_OLD:
            raise
        if error.code == UNSUPPORTED_VERSION and not _supports(error.data, *HANDSHAKE_VERSIONS):
            what = f"the server supports none of sayso's protocol versions: {error.message}"
            raise NotMcpError(what) from error
    try:
        return await _handshake(send, notify, hello, timeout=timeout)
    except RpcError as error:
        # The server was slow to start, but it supports the modern protocol.
        if error.code == UNSUPPORTED_VERSION and _supports(error.data, MODERN):
            return await _discover(send, notify, hello, timeout=timeout)
        raise


async def _discover(send: Send, notify: Notify, hello: Envelope, *, timeout: float) -> Greeting:
    modern = Envelope(MODERN, hello.client_info, {})
    found = await send("server/discover", {}, modern, timeout)
    versions = found.get("supportedVersions")
    if not isinstance(versions, list) or MODERN not in versions:
        return await _handshake(send, notify, hello, timeout=timeout)
    meta = _object(found.get("_meta"))
    return _greeting(modern, _object(meta.get("io.modelcontextprotocol/serverInfo")), found)


async def _handshake(send: Send, notify: Notify, hello: Envelope, *, timeout: float) -> Greeting:
    params = {
        "protocolVersion": LATEST_HANDSHAKE,
        "capabilities": dict(hello.capabilities),
        "clientInfo": dict(hello.client_info),
    }
    found = await send("initialize", params, hello, timeout)
    version = found.get("protocolVersion")
    if version not in HANDSHAKE_VERSIONS:
        known = ", ".join((*HANDSHAKE_VERSIONS, MODERN))
        what = f"the server answered with protocol version {version!r}"
        raise NotMcpError(what, fix=f"sayso supports {known}.")
    agreed = Envelope(version, hello.client_info, hello.capabilities)
    await notify("notifications/initialized", agreed)
    return _greeting(agreed, _object(found.get("serverInfo")), found)


def _greeting(envelope: Envelope, server: Mapping[str, Any], found: Mapping[str, Any]) -> Greeting:
    instructions = found.get("instructions")
    if not isinstance(instructions, str):
        instructions = None
    return Greeting(envelope, server, _object(found.get("capabilities")), instructions)


def _supports(data: object, *versions: str) -> bool:
    supported = _object(data).get("supported")
    return isinstance(supported, list) and any(version in supported for version in versions)


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
