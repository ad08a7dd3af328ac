"""Checks of a request of 2026-07-28 over HTTP (MCP, Streamable HTTP, request headers)."""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.connect import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    MODERN,
    UNSUPPORTED_VERSION,
    Message,
    RpcError,
)
from sayso.gateway.frontends.client import META, Client, called, level_of, name_of
from sayso.policy import Principal

_NAMED: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_VERSION_HEADER: Final = "mcp-protocol-version"
_METHOD_HEADER: Final = "mcp-method"
_NAME_HEADER: Final = "mcp-name"
_VERSION: Final = f"{META}protocolVersion"
_CAPABILITIES: Final = f"{META}clientCapabilities"


def alone(params: Mapping[str, Any], principal: Principal) -> Client:
    """Return the client that a request of 2026-07-28 describes. Raises `RpcError`."""
    meta: Mapping[str, Any] = params.get("_meta") or {}
    if _VERSION not in meta or _CAPABILITIES not in meta:
        what = f"params._meta must hold {_VERSION!r} and {_CAPABILITIES!r}"
        raise RpcError(INVALID_PARAMS, what)
    capabilities: Any = meta[_CAPABILITIES]
    if not isinstance(capabilities, dict):
        raise RpcError(INVALID_PARAMS, f"{_CAPABILITIES} must be an object")
    refuse_version(meta[_VERSION])
    name = name_of(meta.get(f"{META}clientInfo"))
    caller = called(principal, name)
    level = level_of(meta.get(f"{META}logLevel"))
    return Client(caller, MODERN, cast("dict[str, Any]", capabilities), level=level, name=name)


def check_headers(message: Message, params: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Check that the headers match the body, since proxies route by headers. Raises `RpcError`."""
    meta: Mapping[str, Any] = params.get("_meta") or {}
    key = _NAMED.get(message.method or "")
    named = key and params.get(key)
    # Only a name is decoded. Proxies that filter by the other headers read their raw values.
    for header, value, received in (
        (_VERSION_HEADER, meta.get(_VERSION), headers.get(_VERSION_HEADER)),
        (_METHOD_HEADER, message.method, headers.get(_METHOD_HEADER)),
        (_NAME_HEADER, named, decode_header(headers.get(_NAME_HEADER))),
    ):
        # A header may be missing only if the body has no value for it.
        if value is not None and received != value:
            raise _mismatch(header)


def refuse_false_headers(
    message: Message, params: Mapping[str, Any], headers: Mapping[str, str]
) -> None:
    """Check the headers of older clients, which need not send them. Raises `RpcError`."""
    if headers.get(_METHOD_HEADER, message.method) != message.method:
        raise _mismatch(_METHOD_HEADER)
    if _NAME_HEADER in headers:
        key = _NAMED.get(message.method or "")
        if decode_header(headers[_NAME_HEADER]) != (key and params.get(key)):
            raise _mismatch(_NAME_HEADER)


def _mismatch(header: str) -> RpcError:
    return RpcError(HEADER_MISMATCH, f"the header {header} does not match the body")


def refuse_version(version: object) -> None:
    """Raise `RpcError` for any version except 2026-07-28, the only one without sessions."""
    if version != MODERN:
        data = {"supported": [MODERN], "requested": version}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def decode_header(value: str | None) -> str | None:
    """Return the text of a header; `None` if it is missing or wrongly encoded."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    payload = value[9:-2]
    try:
        raw = b64decode(payload, validate=True)
        text = raw.decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if b64encode(raw).decode() == payload else None
