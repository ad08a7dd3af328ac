"""Questions of a server to a client: only what the client can answer, never in sayso's name."""

import secrets
from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.connect import INTERNAL_ERROR, METHOD_NOT_FOUND, MOST_QUESTIONS, RpcError

ASKED_OF: Final = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
"""What a client is asked, and the capability by which it says that it can answer."""

_CAPABILITIES: Final = frozenset(ASKED_OF.values())

RELAYED: Final[Mapping[str, Any]] = {
    "sampling": {"tools": {}},
    "elicitation": {"form": {}, "url": {}},
    "roots": {},
}
"""What a server of the handshake eras is told: its connection outlives the clients that use it."""

_NOT_PASSED: Final = frozenset({"tasks", "experimental"})


def offered(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Return the capabilities of a client that a server of 2026-07-28 is told with each call."""
    return {key: value for key, value in capabilities.items() if key not in _NOT_PASSED}


def is_asked(capabilities: Mapping[str, Any]) -> bool:
    """Return whether there is anything that this client could be asked."""
    return not _CAPABILITIES.isdisjoint(capabilities)


def question(
    server: str, capabilities: Mapping[str, Any], method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters of a server's question, as the client gets them.

    A person is told who asks: a server must not speak as sayso does when it asks for approval. A
    server is not given what others have said to the model. Raises `RpcError` for what this client
    cannot answer.
    """
    known = ASKED_OF.get(method)
    if known is None:
        raise RpcError(METHOD_NOT_FOUND, f"sayso does not pass {method} on")
    offers: Any = capabilities.get(known)
    if not isinstance(offers, Mapping) or not _fits(method, params, cast("Any", offers)):
        mode = " with mode “url”" if params.get("mode") == "url" else ""
        raise RpcError(INTERNAL_ERROR, f"the client of this call cannot answer {method}{mode}")
    if method == "elicitation/create":
        told = {**params, "message": f"The server “{server}” asks: {params.get('message', '')}"}
        if params.get("mode") == "url":
            # A name that clients of 2025-11-25 need, and servers since then do not give.
            told.setdefault("elicitationId", secrets.token_hex(8))
        return told
    if method == "sampling/createMessage":
        return {key: value for key, value in params.items() if key != "includeContext"}
    return dict(params)


def questions(
    server: str, capabilities: Mapping[str, Any], wanted: object, most: int = MOST_QUESTIONS
) -> dict[str, dict[str, Any]]:
    """Return all that `server` asks at once, each as `question`. Raises `RpcError`."""
    found = _object(server, wanted)
    if len(found) > most:
        raise RpcError(INTERNAL_ERROR, f"the server “{server}” asks too often")
    put: dict[str, dict[str, Any]] = {}
    for key, entry in found.items():
        asked = _object(server, entry)
        method = str(asked.get("method"))
        params = _object(server, asked.get("params") or {})
        put[key] = {**asked, "params": question(server, capabilities, method, params)}
    return put


def _object(server: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RpcError(INTERNAL_ERROR, f"what the server “{server}” asks cannot be read")
    return cast("dict[str, Any]", value)


def _fits(method: str, params: Mapping[str, Any], offers: Mapping[str, Any]) -> bool:
    if method == "elicitation/create":
        if params.get("mode") == "url":
            return "url" in offers
        # Before there were two modes, an empty object stood for the only one.
        return "form" in offers or not offers
    if method == "sampling/createMessage" and not params.keys().isdisjoint({"tools", "toolChoice"}):
        return "tools" in offers
    return True
