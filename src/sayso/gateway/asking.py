"""Questions of servers to clients that can answer them; each question names its server."""

import secrets
from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.connect import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    MOST_QUESTIONS,
    NO_CLIENT_TO_ASK,
    RpcError,
)

ASKED_OF: Final = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
"""The methods of questions, each with the client capability that it requires."""

_CAPABILITIES: Final = frozenset(ASKED_OF.values())

RELAYED: Final[Mapping[str, Any]] = {
    "sampling": {"tools": {}},
    "elicitation": {"form": {}, "url": {}},
    "roots": {},
}
"""The capabilities sent to a server of the handshake eras; many clients share its connection."""

_NOT_PASSED: Final = frozenset({"tasks", "experimental"})


def offered(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a client's capabilities that is sent to a server of 2026-07-28."""
    return {key: value for key, value in capabilities.items() if key not in _NOT_PASSED}


def is_asked(capabilities: Mapping[str, Any]) -> bool:
    """Return whether this client can answer any question."""
    return not _CAPABILITIES.isdisjoint(capabilities)


def question(
    server: str, capabilities: Mapping[str, Any], method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters of a server's question for the client.

    The message names the server, so that the question does not look like sayso's. The context of
    other servers is not included. Raises `RpcError` for a question that this client cannot answer.
    """
    capability = ASKED_OF.get(method)
    if capability is None:
        raise RpcError(METHOD_NOT_FOUND, f"sayso does not forward {method}")
    offers: Any = capabilities.get(capability)
    if not isinstance(offers, Mapping) or not _fits(method, params, cast("Any", offers)):
        mode = " with mode “url”" if params.get("mode") == "url" else ""
        raise RpcError(INTERNAL_ERROR, f"the client of this call cannot answer {method}{mode}")
    if method == "elicitation/create":
        asked = {**params, "message": f"The server “{server}” asks: {params.get('message', '')}"}
        if params.get("mode") == "url":
            # Clients of 2025-11-25 need this id, which servers of later versions do not send.
            asked.setdefault("elicitationId", secrets.token_hex(8))
        return asked
    if method == "sampling/createMessage":
        return {key: value for key, value in params.items() if key != "includeContext"}
    return dict(params)


def questions(
    server: str, capabilities: Mapping[str, Any], requests: object, limit: int = MOST_QUESTIONS
) -> dict[str, dict[str, Any]]:
    """Return up to `limit` questions of `server` with their parameters, as `question` does."""
    entries = _object(server, requests)
    if len(entries) > limit:
        raise RpcError(INTERNAL_ERROR, f"the server “{server}” asks too often")
    asked: dict[str, dict[str, Any]] = {}
    for key, value in entries.items():
        entry = _object(server, value)
        method = str(entry.get("method"))
        params = _object(server, entry.get("params") or {})
        asked[key] = {**entry, "params": question(server, capabilities, method, params)}
    return asked


async def refuse_question(method: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse a question outside of calls, because a server would cache an empty list of roots."""
    raise RpcError(INTERNAL_ERROR, f"{NO_CLIENT_TO_ASK} {method}")


def _object(server: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RpcError(INTERNAL_ERROR, f"the server “{server}” sent an invalid question")
    return cast("dict[str, Any]", value)


def _fits(method: str, params: Mapping[str, Any], offers: Mapping[str, Any]) -> bool:
    if method == "elicitation/create":
        if params.get("mode") == "url":
            return "url" in offers
        # In versions without modes, an empty object means the mode “form”.
        return "form" in offers or not offers
    if method == "sampling/createMessage" and not params.keys().isdisjoint({"tools", "toolChoice"}):
        return "tools" in offers
    return True
