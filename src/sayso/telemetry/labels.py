"""Labels of requests, calls and exchanges, with a bounded number of values.

Clients choose methods, and servers choose error codes. So all unknown methods and codes share the
value `_OTHER`, as OpenTelemetry defines it for `error.type`.
"""

from typing import Final, NamedTuple

from sayso.audit import Outcome
from sayso.connect import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    NO_ANSWER,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_VERSION,
    RpcError,
)
from sayso.guard import Call

OTHER: Final = "_OTHER"

METHODS: Final = frozenset({
    "completion/complete", "elicitation/create", "initialize", "logging/setLevel", "ping",
    "prompts/get", "prompts/list", "resources/list", "resources/read", "resources/subscribe",
    "resources/templates/list", "resources/unsubscribe", "roots/list",
    "sampling/createMessage", "server/discover", "subscriptions/listen", "tasks/cancel",
    "tasks/get", "tasks/list", "tasks/result", "tasks/update", "tools/call", "tools/list",
})  # fmt: skip
"""The request methods of all MCP versions and of the tasks extension."""

_CODES: Final = frozenset(
    {PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR}
    | {RESOURCE_NOT_FOUND, HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION, NO_ANSWER}
    # Codes that only servers send: timeout, URL elicitation required, request cancelled.
    | {-32001, -32042, -32800}
)
TOOL_ERROR: Final = "tool_error"
"""The `error.type` of a result with `isError`, by OpenTelemetry's conventions for MCP."""


class CallLabels(NamedTuple):
    """The labels of one call: its tool's server and level, its decision and its outcome."""

    server: str
    level: str
    decision: str
    outcome: str


def method_label(method: str | None) -> str:
    """Return the label of a method: its name if MCP defines it, otherwise `_OTHER`."""
    return method if method in METHODS else OTHER


def code_label(code: int | None) -> str:
    """Return the label of a response's error code; empty if there is no error."""
    if code is None:
        return ""
    return str(code) if code in _CODES else OTHER


def failure_label(error: BaseException | None, *, is_error: bool = False) -> str:
    """Return why an exchange with a server failed; empty if it succeeded."""
    if isinstance(error, RpcError):
        return str(error.fault or code_label(error.code))
    if error is not None:
        # Either sayso failed, or the request was cancelled.
        return "error" if isinstance(error, Exception) else "cancelled"
    return TOOL_ERROR if is_error else ""


def call_labels(call: Call, error: BaseException | None) -> CallLabels:
    """Return the labels of a finished call; a label is empty if its value is unknown."""
    server = level = decision = ""
    if call.is_found:
        server = call.tool.server
        level = str(call.tool.level)
    if call.is_decided:
        decision = str(call.decision.effect)
    return CallLabels(server, level, decision, _outcome(call, error))


def _outcome(call: Call, error: BaseException | None) -> str:
    if call.outcome is not None:
        return str(call.outcome)
    if error is None or isinstance(error, Exception):
        return str(Outcome.FAILED)
    return str(Outcome.CANCELLED)
