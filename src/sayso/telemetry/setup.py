"""Setup of telemetry from options and the environment."""

import logging
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.types import ASGIApp

from sayso.errors import UsageError
from sayso.extras import install_fix
from sayso.store import Database
from sayso.telemetry.gauge import Gauge
from sayso.telemetry.observers import Watch
from sayso.telemetry.wire import counted, traced

if TYPE_CHECKING:
    from sayso.telemetry.metrics import Metrics
    from sayso.telemetry.metrics_page import Prometheus
    from sayso.telemetry.otel import Otel

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The observer and its outputs; all outputs are off by default."""

    watch: Watch | None = None
    prometheus: "Prometheus | None" = None
    otel: "Otel | None" = None

    @property
    def heard(self) -> Callable[[bool, float], None] | None:
        return self._shown and self._shown.heard

    @property
    def _shown(self) -> "Metrics | None":
        """The metrics of the page; `None` if there is no page. OTLP has fewer metrics."""
        return self.prometheus and self.watch and self.watch.metrics

    def show(self, store: Database, gauges: Iterable[Gauge]) -> None:
        if self._shown is not None:
            store.measure(self._shown.committed)
        if self.prometheus is not None:
            self.prometheus.gauges.watch(gauges)

    def around(self, app: ASGIApp) -> ASGIApp:
        if self.otel is not None:
            app = traced(app)
        if self._shown is not None:
            app = counted(app, self._shown.received, self._shown.sent)
        return app


@asynccontextmanager
async def open_telemetry(
    *,
    has_metrics: bool = False,
    has_otel: bool | None = None,
    has_logs: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> AsyncGenerator[Telemetry]:
    """Set up metrics, OpenTelemetry, and logs that name their call.

    By default OpenTelemetry is on if the environment names an endpoint. Raises `UsageError` if a
    requested extra is not installed.
    """
    async with AsyncExitStack() as stack:
        prometheus = _prometheus() if has_metrics else None
        otel = None
        if has_otel or (has_otel is None and _wants_otel(environment)):
            otel = await _otel(stack, is_asked=has_otel is True)
        metrics = _metrics(prometheus, otel) if prometheus or otel else None
        is_seen = metrics is not None or has_logs
        watch = Watch(metrics, otel and otel.spans) if is_seen else None
        yield Telemetry(watch, prometheus, otel)


def _wants_otel(environment: Mapping[str, str]) -> bool:
    is_off = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not is_off and any(environment.get(name) for name in _ENDPOINTS)


def _metrics(prometheus: "Prometheus | None", otel: "Otel | None") -> "Metrics":
    from sayso.telemetry.metrics import Metrics  # noqa: PLC0415 - an extra

    return Metrics(prometheus and prometheus.meter, otel and otel.meter)


def _prometheus() -> "Prometheus":
    try:
        from sayso.telemetry.metrics_page import Prometheus  # noqa: PLC0415 - an extra
    except ImportError as error:
        what = "OpenTelemetry's Prometheus exporter is not installed"
        raise UsageError(what, where="--metrics", fix=install_fix("metrics")) from error
    return Prometheus()


async def _otel(stack: AsyncExitStack, *, is_asked: bool) -> "Otel | None":
    try:
        from sayso.telemetry.otel import open_otel  # noqa: PLC0415 - an extra
    except ImportError as error:
        what = "OpenTelemetry's SDK is not installed"
        fix = install_fix("otel")
        if is_asked:
            raise UsageError(what, where="--otel", fix=fix) from error
        # Only warn: the environment variables may be for other programs.
        _log.warning("%s, so no traces are sent. %s", what, fix)
        return None
    return await stack.enter_async_context(open_otel())
