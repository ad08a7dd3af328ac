"""Spans: one for each client request, with one below it for each exchange with a server.

This module uses only OpenTelemetry's API. The parent of a span comes from the trace context in
`_meta`, or else in the HTTP headers. If both exist, the span gets a link to the context in the
headers (OpenTelemetry's conventions for MCP, context propagation).
"""

from typing import Final

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, SpanKind, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from sayso.connect import Exchange
from sayso.guard import Call
from sayso.telemetry.attributes import (
    approval_attributes,
    call_attributes,
    decision_attributes,
    exchange_attributes,
    request_attributes,
    short,
    span_name,
    trace_of,
)
from sayso.telemetry.context import Asked
from sayso.telemetry.labels import TOOL_ERROR, CallLabels
from sayso.telemetry.wire import CARRIED

_W3C: Final = TraceContextTextMapPropagator()
_EMPTY: Final = Context()
_CALL: Final = "tools/call"


class Spans:
    """A factory of spans for requests, exchanges and calls."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def request(self, asked: Asked) -> "_RequestSpan":
        carried = CARRIED.get()
        parent, links = _origin(asked, carried or {})
        span = self._tracer.start_span(
            span_name(asked.method),
            parent,
            SpanKind.SERVER,
            request_attributes(asked, is_http=carried is not None),
            links,
        )
        return _RequestSpan(span, asked)

    def exchange(self, exchange: Exchange) -> "_Span":
        span = self._tracer.start_span(
            span_name(exchange.method, exchange.tool),
            kind=SpanKind.CLIENT,
            attributes=exchange_attributes(exchange),
        )
        exchange.trace = _carrier(span)
        return _Span(span)

    def began(self, call: Call) -> None:
        """Add the current trace context to a call, for its server and for the log."""
        carrier = _carrier(trace.get_current_span())
        if carrier:
            call.meta = {**(call.meta or {}), **carrier}

    def decided(self, call: Call) -> None:
        trace.get_current_span().add_event("sayso.decision", decision_attributes(call))

    def approved(self, call: Call) -> None:
        trace.get_current_span().add_event("sayso.approval", approval_attributes(call))

    def ended(self, call: Call, labels: CallLabels, *, is_error: bool) -> None:
        span = trace.get_current_span()
        if not span.is_recording():
            return
        span.set_attributes(call_attributes(call, labels))
        if call.is_found:
            span.update_name(span_name(_CALL, call.tool.qualified_name))
        if is_error:
            _fail(span, TOOL_ERROR)


class _Span:
    __slots__ = ("span",)

    def __init__(self, span: trace.Span) -> None:
        self.span = span

    def end(self, error: str) -> None:
        if error:
            _fail(self.span, error)
        self.span.end()


class _RequestSpan:
    """The span of a client's request, which is the current span until the request ends."""

    __slots__ = ("_asked", "_span", "_token")

    def __init__(self, span: trace.Span, asked: Asked) -> None:
        self._span = span
        self._asked = asked
        self._token = contexts.attach(trace.set_span_in_context(span, _EMPTY))

    def end(self, error: str) -> None:
        contexts.detach(self._token)
        if error:
            _fail(self._span, error)
        elif self._asked.prompt is not None:
            # Only names of existing prompts are recorded.
            self._span.set_attribute("gen_ai.prompt.name", short(self._asked.prompt))
            self._span.update_name(span_name(self._asked.method, self._asked.prompt))
        self._span.end()


def _fail(span: trace.Span, error: str) -> None:
    span.set_attribute("error.type", error)
    span.set_status(StatusCode.ERROR)


def _origin(asked: Asked, carried: dict[str, str]) -> tuple[Context, list[Link]]:
    in_meta = _W3C.extract(trace_of(asked.meta), _EMPTY)
    in_headers = _W3C.extract(carried, _EMPTY)
    if not trace.get_current_span(in_meta).get_span_context().is_valid:
        return in_headers, []
    ambient = trace.get_current_span(in_headers).get_span_context()
    return in_meta, [Link(ambient)] if ambient.is_valid else []


def _carrier(span: trace.Span) -> dict[str, str]:
    carrier: dict[str, str] = {}
    _W3C.inject(carrier, trace.set_span_in_context(span, _EMPTY))
    return carrier
