"""A collector of OpenTelemetry on loopback, which keeps what it is sent."""

import gzip
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.connect.serving import serve_app


@dataclass(frozen=True)
class Seen:
    """One span. `events` are their names with their attributes."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    error: bool
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]
    links: list[str]


@dataclass
class Collector:
    """What has come so far: spans, metrics with the attributes of each point, and all bytes."""

    url: str = ""
    spans: list[Seen] = field(default_factory=list[Seen])
    metrics: dict[str, list[dict[str, Any]]] = field(
        default_factory=dict[str, list[dict[str, Any]]]
    )
    resource: dict[str, Any] = field(default_factory=dict[str, Any])
    raw: bytes = b""

    def named(self, name: str) -> list[Seen]:
        return [one for one in self.spans if one.name == name]

    async def take_spans(self, request: Request) -> Response:
        found = ExportTraceServiceRequest.FromString(await self.body(request))
        for resource in found.resource_spans:
            self.resource = attributes(resource.resource.attributes)
            self.spans += [seen(one) for scope in resource.scope_spans for one in scope.spans]
        return Response(media_type="application/x-protobuf")

    async def take_metrics(self, request: Request) -> Response:
        found = ExportMetricsServiceRequest.FromString(await self.body(request))
        scopes = (scope for one in found.resource_metrics for scope in one.scope_metrics)
        for metric in (one for scope in scopes for one in scope.metrics):
            kept = metric.histogram if metric.HasField("histogram") else metric.sum
            points = [attributes(point.attributes) for point in kept.data_points]
            self.metrics.setdefault(metric.name, []).extend(points)
        return Response(media_type="application/x-protobuf")

    async def body(self, request: Request) -> bytes:
        body = await request.body()
        if request.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.raw += body
        return body


def seen(span: Any) -> Seen:
    return Seen(
        span.name,
        span.kind,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.status.code == 2,
        attributes(span.attributes),
        [(one.name, attributes(one.attributes)) for one in span.events],
        [one.span_id.hex() for one in span.links],
    )


def attributes(pairs: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in pairs}


@asynccontextmanager
async def collecting() -> AsyncGenerator[Collector]:
    """A collector, while it listens."""
    collector = Collector()
    routes = [
        Route("/v1/traces", collector.take_spans, methods=["POST"]),
        Route("/v1/metrics", collector.take_metrics, methods=["POST"]),
    ]
    async with serve_app(Starlette(routes=routes)) as base:
        collector.url = base
        yield collector
