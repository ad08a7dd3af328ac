"""Traces and metrics for OpenTelemetry, sent by OTLP (extra `otel`), in batches, beside the calls.

The providers are sayso's own: what else in this process uses OpenTelemetry stays as it was. The
SDK's own environment variables say where to send to, how often, and what to sample.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import anyio
from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from sayso.store import Head
from sayso.telemetry.spans import Spans
from sayso.version import __version__

_LEAVE_SECONDS: Final = 3.0
"""How long what is not sent yet may hold up the end of sayso."""


@dataclass(frozen=True, slots=True)
class Otel:
    """What goes to OpenTelemetry."""

    meter: metrics.Meter
    spans: Spans
    tracer: trace.Tracer

    def emit(self, head: Head) -> None:
        """Tell the head of the log's chain: a `sayso.audit.Emit`."""
        told = {
            "sayso.audit.writer": head.writer,
            "sayso.audit.index": head.index,
            "sayso.audit.mac": head.mac,
        }
        self.tracer.start_span("sayso.audit.head", attributes=told).end()


@asynccontextmanager
async def open_otel() -> AsyncGenerator[Otel]:
    """Send while this is open; on leaving, what is not sent yet, for three seconds at most."""
    own = Resource({"service.name": "sayso", "service.version": __version__})
    resource = own.merge(OTELResourceDetector().detect())
    spans = TracerProvider(resource=resource, shutdown_on_exit=False)
    spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    numbers = MeterProvider([reader], resource, shutdown_on_exit=False)
    tracer = spans.get_tracer("sayso", __version__)
    try:
        yield Otel(numbers.get_meter("sayso", __version__), Spans(tracer), tracer)
    finally:
        await _leave(spans.shutdown, numbers.shutdown)


async def _leave(*ends: Callable[[], None]) -> None:
    """Run them for a while, in threads that the end of the process does not wait for."""
    loop = asyncio.get_running_loop()
    over = [asyncio.Event() for _ in ends]

    def run(end: Callable[[], None], done: asyncio.Event) -> None:
        end()
        # Nobody may be left who waits.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(done.set)

    for pair in zip(ends, over, strict=True):
        threading.Thread(target=run, args=pair, name="sayso-otel", daemon=True).start()
    with anyio.move_on_after(_LEAVE_SECONDS, shield=True):
        for done in over:
            await done.wait()
