"""The page `/metrics`, rendered by OpenTelemetry's Prometheus exporter (extra `metrics`)."""

from dataclasses import dataclass
from typing import Final

from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import (
    AlwaysOffExemplarFilter,
    Counter,
    Histogram,
    MeterProvider,
    ObservableGauge,
)
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry, Info, ProcessCollector
from prometheus_client.exposition import choose_encoder
from starlette.types import Receive, Scope, Send

from sayso.access import Names, is_own_host
from sayso.telemetry.metrics import ObservedGauges
from sayso.version import __version__

PATH: Final = "/metrics"
_MAX_SERIES: Final = 100_000
"""The maximum series of one metric, reached only with very many servers: callers add none."""


class Prometheus:
    """The metrics of `meter` for Prometheus; `gauges` are read for each page."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        version = Info("sayso", "The version that runs.", registry=self.registry)
        version.info({"version": __version__})
        reader = PrometheusMetricReader(
            disable_target_info=True,
            scope_info_enabled=False,
            registry=self.registry,
            cardinality_limits=dict.fromkeys((Counter, Histogram, ObservableGauge), _MAX_SERIES),
        )
        provider = MeterProvider(
            [reader], Resource({}), AlwaysOffExemplarFilter(), shutdown_on_exit=False
        )
        self.meter = provider.get_meter("sayso", __version__)
        self.gauges = ObservedGauges(self.meter)

    async def page(self, accept: str) -> tuple[bytes, str]:
        """Return the page and its content type, in the format that `accept` prefers."""
        await self.gauges.read()
        encode, kind = choose_encoder(accept)
        return encode(self.registry), kind


@dataclass(frozen=True, slots=True)
class MetricsPage:
    """The ASGI application of the page; only `Host` values in `names` pass (DNS rebinding)."""

    metrics: Prometheus
    names: Names | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del receive
        if self.names is not None and not is_own_host(scope["headers"], self.names):
            await _respond(send, 421, b"Unknown host name.\n")
        elif scope["path"] != PATH:
            await _respond(send, 404, b"The metrics are at /metrics.\n")
        elif scope["method"] not in ("GET", "HEAD"):
            await _respond(send, 405, b"Use GET.\n")
        else:
            accept = dict(scope["headers"]).get(b"accept", b"")
            body, kind = await self.metrics.page(accept.decode("latin-1"))
            await _respond(send, 200, body, kind)


async def _respond(
    send: Send, status: int, body: bytes, kind: str = "text/plain; charset=utf-8"
) -> None:
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
