"""Labels of requests, calls and exchanges: a bounded number of words.

Method names and error codes are the other side's to choose, so those that MCP does not know share
one word (OpenTelemetry, `error.type`: `_OTHER`).
"""

from typing import Final, NamedTuple

from sayso.audit import Outcome
from sayso.connect import RpcError
from sayso.guard import Call

OTHER: Final = "_OTHER"

METHODS: Final = frozenset(
    {
        "completion/complete",
        "elicitation/create",
        "initialize",
        "logging/setLevel",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "resources/unsubscribe",
        "roots/list",
        "sampling/createMessage",
        "server/discover",
        "subscriptions/listen",
        "tasks/cancel",
        "tasks/get",
        "tasks/list",
        "tasks/result",
        "tasks/update",
        "tools/call",
        "tools/list",
    }
)
"""The requests of MCP, in all its versions and with its extension for tasks."""

_CODES: Final = frozenset(
    {-32700, -32600, -32601, -32602, -32603, -32000, -32001, -32002, -32020, -32021, -32022, -32042}
    | {-32800}
)
TOOL_ERROR: Final = "tool_error"
"""What the conventions call a result with `isError`."""


class CallLabels(NamedTuple):
    """One call: the server and level of its tool, what was decided, and how it ended."""

    server: str
    level: str
    decision: str
    outcome: str


def method_label(method: str | None) -> str:
    """Return the label of a method: its own name if MCP has it."""
    return method if method in METHODS else OTHER


def code_label(code: int | None) -> str:
    """Return the label of a response's error; empty without one."""
    if code is None:
        return ""
    return str(code) if code in _CODES else OTHER


def failure_label(error: BaseException | None, *, is_error: bool = False) -> str:
    """Return why an exchange with a server failed; empty where it did not."""
    if isinstance(error, RpcError):
        return str(error.fault or code_label(error.code))
    if error is not None:
        # The answer is no longer wanted, or sayso itself is at fault.
        return "error" if isinstance(error, Exception) else "cancelled"
    return TOOL_ERROR if is_error else ""


def call_labels(call: Call, error: BaseException | None) -> CallLabels:
    """Return the labels of a call that has ended; empty ones for what was not found or decided."""
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
