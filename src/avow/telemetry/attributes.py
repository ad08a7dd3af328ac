"""What spans say, by the names of the conventions for MCP and GenAI; ours begin with `avow.`.

Pure. Arguments, results, addresses of resources and who called are in none of them. Names come
from what is there: a tool that was not found, and a prompt that nobody has, are not named.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from avow.connect.watch import Exchange
from avow.guard import Call
from avow.schema import redact_start
from avow.schema.plain import plain
from avow.schema.trace import read_traceparent
from avow.telemetry.labels import CallLabels, method_label
from avow.telemetry.watch import Asked

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
        "avow.server": exchange.server,
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
    found: Attributes = {"avow.call.id": call.id}
    said = {f"avow.{name}": word for name, word in labels._asdict().items()}
    found |= {name: word for name, word in said.items() if word}
    if call.tool is not None:
        found |= _tool_attributes(call.tool.qualified_name)
    if call.approval is not None:
        found["avow.approval.number"] = call.approval
    if call.incident is not None:
        found["avow.incident"] = call.incident
    if call.tries > 1:
        found["avow.tries"] = call.tries
    return found


def decision_attributes(call: Call) -> Attributes:
    """A decision: what, and by which rule."""
    decided = call.decided
    return {"avow.decision": str(decided.effect), "avow.rule": short(decided.rule)}


def approval_attributes(call: Call) -> Attributes:
    """An approval: which, and over which channel; not by whom."""
    approved = call.approved
    if approved is None:
        return {}
    found: Attributes = {"avow.approval.number": approved.number}
    if approved.channel is not None:
        found["avow.approval.channel"] = short(approved.channel)
    return found


def span_name(method: str, target: str | None = None) -> str:
    """The name of a span: its method, and the tool or prompt that it is about."""
    return method_label(method) if target is None else f"{method_label(method)} {short(target)}"


def trace_of(carrier: Mapping[str, object]) -> dict[str, str]:
    """Return the trace context of a carrier; nothing where its `traceparent` is malformed."""
    parent, state = read_traceparent(carrier.get("traceparent")), carrier.get("tracestate")
    if parent is None:
        return {}
    return {"traceparent": parent} | ({"tracestate": state} if isinstance(state, str) else {})


def short(text: str) -> str:
    """The other side's words, in one line, without secrets, and not too many."""
    return plain(redact_start(text, _LONGEST))[:_LONGEST]


def _tool_attributes(name: str) -> Attributes:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": short(name)}
