"""Attributes of spans, named by the conventions for MCP and GenAI; ours begin with `sayso.`.

None holds arguments, results, addresses of resources or callers. A tool or prompt that does not
exist is not named.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from sayso.connect import Exchange
from sayso.guard import Call
from sayso.schema import plain, read_traceparent, redact_start
from sayso.telemetry.context import Asked
from sayso.telemetry.labels import CallLabels, method_label

Attributes = dict[str, str | int]

_LONGEST: Final = 128


def request_attributes(asked: Asked, *, is_http: bool) -> Attributes:
    """Return the attributes of a request of a client."""
    found: Attributes = {
        "mcp.method.name": method_label(asked.method),
        "mcp.protocol.version": asked.version,
        "network.transport": "pipe",
    }
    if is_http:
        found["network.transport"] = "tcp"
        found["network.protocol.name"] = "http"
    if asked.id is not None:
        found["jsonrpc.request.id"] = short(str(asked.id))
    if asked.session is not None:
        found["mcp.session.id"] = asked.session
    return found


def exchange_attributes(exchange: Exchange) -> Attributes:
    """Return the attributes of a request to a server."""
    found: Attributes = {
        "mcp.method.name": method_label(exchange.method),
        "mcp.protocol.version": exchange.version,
        "network.transport": "pipe",
        "sayso.server": exchange.server,
    }
    if exchange.url is not None:
        parts = urlsplit(exchange.url)
        found["network.transport"] = "tcp"
        found["network.protocol.name"] = "http"
        found["server.address"] = parts.hostname or ""
        found["server.port"] = parts.port or {"https": 443}.get(parts.scheme, 80)
    if exchange.tool is not None:
        found |= _tool_attributes(exchange.tool)
    return found


def call_attributes(call: Call, labels: CallLabels) -> Attributes:
    """Return the attributes of a call that has ended."""
    found: Attributes = {"sayso.call.id": call.id}
    found |= {f"sayso.{name}": word for name, word in labels._asdict().items() if word}
    if call.is_found:
        found |= _tool_attributes(call.tool.qualified_name)
    if call.approval is not None:
        found["sayso.approval.number"] = call.approval
    if call.incident is not None:
        found["sayso.incident"] = call.incident
    if call.tries > 1:
        found["sayso.tries"] = call.tries
    return found


def decision_attributes(call: Call) -> Attributes:
    """Return the attributes of a decision: its effect, and the rule that made it."""
    decided = call.decision
    return {"sayso.decision": str(decided.effect), "sayso.rule": short(decided.rule)}


def approval_attributes(call: Call) -> Attributes:
    """Return the attributes of an approval: its number and channel, not who gave it."""
    approved = call.approved
    if approved is None:
        return {}
    found: Attributes = {"sayso.approval.number": approved.number}
    if approved.channel is not None:
        found["sayso.approval.channel"] = short(approved.channel)
    return found


def span_name(method: str, target: str | None = None) -> str:
    """Return the name of a span: its method, and the tool or prompt that it is about."""
    if target is None:
        return method_label(method)
    return f"{method_label(method)} {short(target)}"


def trace_of(carrier: Mapping[str, object]) -> dict[str, str]:
    """Return the trace context of a carrier; nothing where its `traceparent` is malformed."""
    parent = read_traceparent(carrier.get("traceparent"))
    state = carrier.get("tracestate")
    if parent is None:
        return {}
    if not isinstance(state, str):
        return {"traceparent": parent}
    return {"traceparent": parent, "tracestate": state}


def short(text: str) -> str:
    """Return the other side's words on one line, bounded and without secrets."""
    return plain(redact_start(text, _LONGEST))[:_LONGEST]


def _tool_attributes(name: str) -> Attributes:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": short(name)}
