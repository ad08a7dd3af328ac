"""Traces and metrics for OpenTelemetry, sent by OTLP (extra `otel`), in batches, beside the calls.

The providers are avow's own: what else in this process uses OpenTelemetry stays as it was. The
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

from avow import __version__
from avow.store import Head
from avow.telemetry.labels import CallLabels
from avow.telemetry.spans import Spans

_LEAVE_SECONDS: Final = 3.0
"""How long what is not sent yet may hold up the end of avow."""

_BUCKETS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Seconds, as the conventions for MCP advise."""


class OtelMeter:
    """A `Meter` with the names of the conventions. What the page of Prometheus holds is more."""

    def __init__(self, meter: metrics.Meter) -> None:
        self._server_seconds = meter.create_histogram(
            "mcp.server.operation.duration",
            "s",
            "From a request of a client to its answer.",
            explicit_bucket_boundaries_advisory=_BUCKETS,
        )
        self._client_seconds = meter.create_histogram(
            "mcp.client.operation.duration",
            "s",
            "From a request to a server to its answer.",
            explicit_bucket_boundaries_advisory=_BUCKETS,
        )
        self._calls = meter.create_counter("avow.calls", "{call}", "Calls of tools that ended.")

    def requested(self, method: str, error: str, seconds: float) -> None:
        """See `Meter.requested`."""
        self._server_seconds.record(seconds, _operation(method, error))

    def called(self, labels: CallLabels, seconds: float, deciding: float | None) -> None:
        """See `Meter.called`."""
        del seconds, deciding
        self._calls.add(1, {f"avow.{name}": word for name, word in labels._asdict().items()})

    def exchanged(self, server: str, method: str, error: str, seconds: float) -> None:
        """See `Meter.exchanged`."""
        self._client_seconds.record(seconds, {**_operation(method, error), "avow.server": server})


@dataclass(frozen=True, slots=True)
class Otel:
    """What goes to OpenTelemetry."""

    meter: OtelMeter
    spans: Spans
    tracer: trace.Tracer

    def emit(self, head: Head) -> None:
        """Tell the head of the log's chain: an `avow.audit.Emit`."""
        told = {
            "avow.audit.writer": head.writer,
            "avow.audit.index": head.index,
            "avow.audit.mac": head.mac,
        }
        self.tracer.start_span("avow.audit.head", attributes=told).end()


@asynccontextmanager
async def open_otel() -> AsyncGenerator[Otel]:
    """Send while this is open; on leaving, what is not sent yet, for three seconds at most."""
    own = Resource({"service.name": "avow", "service.version": __version__})
    resource = own.merge(OTELResourceDetector().detect())
    spans = TracerProvider(resource=resource, shutdown_on_exit=False)
    spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    numbers = MeterProvider([reader], resource, shutdown_on_exit=False)
    tracer = spans.get_tracer("avow", __version__)
    try:
        yield Otel(OtelMeter(numbers.get_meter("avow", __version__)), Spans(tracer), tracer)
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
        threading.Thread(target=run, args=pair, name="avow-otel", daemon=True).start()
    with anyio.move_on_after(_LEAVE_SECONDS, shield=True):
        for done in over:
            await done.wait()


def _operation(method: str, error: str) -> dict[str, str]:
    told = {"mcp.method.name": method}
    return {**told, "error.type": error} if error else told
