"""`/metrics`, on a listener of its own: who may call tools need not see this, nor the reverse."""

from dataclasses import dataclass

from starlette.types import Receive, Scope, Send

from avow.access import Names, is_own_host
from avow.telemetry.prometheus import Prometheus

PATH = "/metrics"


@dataclass(frozen=True, slots=True)
class MetricsPage:
    """Serves the page. `names` are those that it may be called by, `None` for any.

    On loopback there is a name: a web page of others may not read it under a name that was made to
    point here (DNS rebinding).
    """

    metrics: Prometheus
    names: Names | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        del receive
        if self.names is not None and not is_own_host(scope["headers"], self.names):
            await _say(send, 421, b"avow does not go by that name.\n")
        elif scope["path"] != PATH:
            await _say(send, 404, b"The metrics are at /metrics.\n")
        elif scope["method"] not in ("GET", "HEAD"):
            await _say(send, 405, b"Metrics are read by GET.\n")
        else:
            told = dict(scope["headers"]).get(b"accept", b"")
            body, kind = await self.metrics.page(told.decode("latin-1"))
            await _say(send, 200, body, kind)


async def _say(
    send: Send, status: int, body: bytes, kind: str = "text/plain; charset=utf-8"
) -> None:
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
