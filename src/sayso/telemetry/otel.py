"""Export of traces and metrics by OTLP (extra `otel`), in batches in the background.

sayso creates separate providers, so other uses of OpenTelemetry in this process do not change. The
environment variables of OpenTelemetry's SDK set the endpoint, the interval and the sampling.
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
"""The maximum time that sayso's exit waits for unsent data."""


@dataclass(frozen=True, slots=True)
class Otel:
    """The instruments that feed OpenTelemetry."""

    meter: metrics.Meter
    spans: Spans
    tracer: trace.Tracer

    def emit(self, head: Head) -> None:
        """Send the head of the audit log's chain (a `sayso.audit.Emit`)."""
        attributes = {
            "sayso.audit.writer": head.writer,
            "sayso.audit.index": head.index,
            "sayso.audit.mac": head.mac,
        }
        self.tracer.start_span("sayso.audit.head", attributes=attributes).end()


@asynccontextmanager
async def open_otel() -> AsyncGenerator[Otel]:
    """Export while the context is open; on exit, flush for at most three seconds."""
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
    """Run functions in daemon threads, and wait for them for a limited time."""
    loop = asyncio.get_running_loop()
    over = [asyncio.Event() for _ in ends]

    def run(end: Callable[[], None], done: asyncio.Event) -> None:
        end()
        # The loop may be closed already.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(done.set)

    for pair in zip(ends, over, strict=True):
        threading.Thread(target=run, args=pair, name="sayso-otel", daemon=True).start()
    with anyio.move_on_after(_LEAVE_SECONDS, shield=True):
        for done in over:
            await done.wait()
