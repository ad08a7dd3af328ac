"""Attributes of spans, by OpenTelemetry's conventions for MCP and GenAI.

Attributes that sayso defines begin with `sayso.`. No attribute contains arguments, results,
resource URIs or callers, or the name of an unknown tool or prompt.
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

_MAX_CHARACTERS: Final = 128


def request_attributes(asked: Asked, *, is_http: bool) -> Attributes:
    """Return the attributes of a client's request."""
    attributes: Attributes = {
        "mcp.method.name": method_label(asked.method),
        "mcp.protocol.version": asked.version,
        "network.transport": "pipe",
    }
    if is_http:
        attributes["network.transport"] = "tcp"
        attributes["network.protocol.name"] = "http"
    if asked.id is not None:
        attributes["jsonrpc.request.id"] = short(str(asked.id))
    if asked.session is not None:
        attributes["mcp.session.id"] = asked.session
    return attributes


def exchange_attributes(exchange: Exchange) -> Attributes:
    """Return the attributes of a request to a server."""
    attributes: Attributes = {
        "mcp.method.name": method_label(exchange.method),
        "mcp.protocol.version": exchange.version,
        "network.transport": "pipe",
        "sayso.server": exchange.server,
    }
    if exchange.url is not None:
        parts = urlsplit(exchange.url)
        attributes["network.transport"] = "tcp"
        attributes["network.protocol.name"] = "http"
        attributes["server.address"] = parts.hostname or ""
        attributes["server.port"] = parts.port or {"https": 443}.get(parts.scheme, 80)
    if exchange.tool is not None:
        attributes |= _tool_attributes(exchange.tool)
    return attributes


def call_attributes(call: Call, labels: CallLabels) -> Attributes:
    """Return the attributes of a finished call."""
    attributes: Attributes = {"sayso.call.id": call.id}
    attributes |= {f"sayso.{name}": word for name, word in labels._asdict().items() if word}
    if call.is_found:
        attributes |= _tool_attributes(call.tool.qualified_name)
    if call.approval is not None:
        attributes["sayso.approval.number"] = call.approval
    if call.incident is not None:
        attributes["sayso.incident"] = call.incident
    if call.tries > 1:
        attributes["sayso.tries"] = call.tries
    return attributes


def decision_attributes(call: Call) -> Attributes:
    """Return the attributes of a decision: its effect and its rule."""
    return {"sayso.decision": str(call.decision.effect), "sayso.rule": short(call.decision.rule)}


def approval_attributes(call: Call) -> Attributes:
    """Return the attributes of an approval: its number and channel, without the person."""
    approved = call.approved
    if approved is None:
        return {}
    attributes: Attributes = {"sayso.approval.number": approved.number}
    if approved.channel is not None:
        attributes["sayso.approval.channel"] = short(approved.channel)
    return attributes


def span_name(method: str, target: str | None = None) -> str:
    """Return the name of a span: the method, followed by the tool or prompt if there is one."""
    if target is None:
        return method_label(method)
    return f"{method_label(method)} {short(target)}"


def trace_of(carrier: Mapping[str, object]) -> dict[str, str]:
    """Return the trace context in headers or `_meta`; empty if `traceparent` is malformed."""
    parent = read_traceparent(carrier.get("traceparent"))
    state = carrier.get("tracestate")
    if parent is None:
        return {}
    if not isinstance(state, str):
        return {"traceparent": parent}
    return {"traceparent": parent, "tracestate": state}


def short(text: str) -> str:
    """Return text of a server or client on one line, truncated and with secrets masked."""
    return plain(redact_start(text, _MAX_CHARACTERS))[:_MAX_CHARACTERS]


def _tool_attributes(name: str) -> Attributes:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": short(name)}
