"""What spans say, by the names of the conventions for MCP and GenAI; ours begin with `sayso.`.

Pure. Arguments, results, addresses of resources and who called are in none of them. Names come
from what is there: a tool that was not found, and a prompt that nobody has, are not named.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from sayso.connect import Exchange
from sayso.guard import Call
from sayso.schema import plain, read_traceparent, redact_start
from sayso.telemetry.labels import CallLabels, method_label
from sayso.telemetry.watch import Asked

Attributes = dict[str, str | int]

_LONGEST: Final = 128


def request_attributes(asked: Asked, *, is_http: bool) -> Attributes:
    """A request of a client, as it comes in."""
    found: Attributes = {
        "mcp.method.name": method_label(asked.method),
        "mcp.protocol.version": asked.version,
        "network.transport": "tcp" if is_http else "pipe",
    }
    if is_http:
        found["network.protocol.name"] = "http"
    if asked.id is not None:
        found["jsonrpc.request.id"] = short(str(asked.id))
    if asked.session is not None:
        found["mcp.session.id"] = asked.session
    return found


def exchange_attributes(exchange: Exchange) -> Attributes:
    """A request to a server, as it goes out."""
    found: Attributes = {
        "mcp.method.name": method_label(exchange.method),
        "mcp.protocol.version": exchange.version,
        "network.transport": "pipe" if exchange.url is None else "tcp",
        "sayso.server": exchange.server,
    }
    if exchange.url is not None:
        parts = urlsplit(exchange.url)
        found["network.protocol.name"] = "http"
        found["server.address"] = parts.hostname or ""
        found["server.port"] = parts.port or (443 if parts.scheme == "https" else 80)
    if exchange.tool is not None:
        found |= _tool_attributes(exchange.tool)
    return found


def call_attributes(call: Call, labels: CallLabels) -> Attributes:
    """A call that has ended."""
    found: Attributes = {"sayso.call.id": call.id}
    said = {f"sayso.{name}": word for name, word in labels._asdict().items()}
    found |= {name: word for name, word in said.items() if word}
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
    """A decision: what, and by which rule."""
    decided = call.decision
    return {"sayso.decision": str(decided.effect), "sayso.rule": short(decided.rule)}


def approval_attributes(call: Call) -> Attributes:
    """An approval: which, and over which channel; not by whom."""
    approved = call.approved
    if approved is None:
        return {}
    found: Attributes = {"sayso.approval.number": approved.number}
    if approved.channel is not None:
        found["sayso.approval.channel"] = short(approved.channel)
    return found


def span_name(method: str, target: str | None = None) -> str:
    """The name of a span: its method, and the tool or prompt that it is about."""
    return method_label(method) if target is None else f"{method_label(method)} {short(target)}"


def trace_of(carrier: Mapping[str, object]) -> dict[str, str]:
    """Return the trace context of a carrier; nothing where its `traceparent` is malformed."""
    parent = read_traceparent(carrier.get("traceparent"))
    state = carrier.get("tracestate")
    if parent is None:
        return {}
    return {"traceparent": parent} | ({"tracestate": state} if isinstance(state, str) else {})


def short(text: str) -> str:
    """The other side's words, in one line, without secrets, and not too many."""
    return plain(redact_start(text, _LONGEST))[:_LONGEST]


def _tool_attributes(name: str) -> Attributes:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": short(name)}
