"""What a gateway shows of itself, put together as it was asked for."""

import logging
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.types import ASGIApp

from avow.errors import UsageError
from avow.extras import install_fix
from avow.store import Store
from avow.telemetry.gauge import Gauge
from avow.telemetry.watch import Watch
from avow.telemetry.wire import counted, traced

if TYPE_CHECKING:
    from avow.telemetry.otel import Otel
    from avow.telemetry.prometheus import Prometheus

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What looks on, and where it tells of it. By default nothing does, and it costs nothing."""

    watch: Watch | None = None
    prometheus: "Prometheus | None" = None
    otel: "Otel | None" = None

    @property
    def heard(self) -> Callable[[bool, float], None] | None:
        """Whom the ledger of approvals tells of answers."""
        return self.prometheus and self.prometheus.heard

    def show(self, store: Store, gauges: Iterable[Gauge]) -> None:
        """Show what the store does, and what the gauges say."""
        if self.prometheus is not None:
            store.measure(self.prometheus.store.committed)
            self.prometheus.gauges.all = [*gauges]

    def around(self, app: ASGIApp) -> ASGIApp:
        """The application, with what is looked at on the wire."""
        if self.otel is not None:
            app = traced(app)
        if self.prometheus is not None:
            app = counted(app, self.prometheus.received, self.prometheus.sent)
        return app


@asynccontextmanager
async def open_telemetry(
    *,
    has_metrics: bool = False,
    has_otel: bool | None = None,
    has_logs: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> AsyncGenerator[Telemetry]:
    """Look on for metrics, for OpenTelemetry, and for logs that name the call they are about.

    `has_otel` left open means: where the environment names an endpoint. Raises `UsageError` where
    what was asked for is not installed.
    """
    async with AsyncExitStack() as stack:
        prometheus = _prometheus() if has_metrics else None
        otel = None
        if _wants_otel(environment) if has_otel is None else has_otel:
            otel = await _otel(stack, is_asked=has_otel is True)
        meters = [one for one in (prometheus, otel and otel.meter) if one is not None]
        is_seen = bool(meters) or has_logs
        watch = Watch(meters, otel and otel.spans) if is_seen else None
        yield Telemetry(watch, prometheus, otel)


def _wants_otel(environment: Mapping[str, str]) -> bool:
    is_off = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not is_off and any(environment.get(name) for name in _ENDPOINTS)


def _prometheus() -> "Prometheus":
    try:
        from avow.telemetry.prometheus import Prometheus  # noqa: PLC0415 - an extra
    except ImportError as error:
        what = "metrics need prometheus-client"
        raise UsageError(what, where="--metrics", fix=install_fix("metrics")) from error
    return Prometheus()


async def _otel(stack: AsyncExitStack, *, is_asked: bool) -> "Otel | None":
    try:
        from avow.telemetry.otel import open_otel  # noqa: PLC0415 - an extra
    except ImportError as error:
        what, fix = "traces need OpenTelemetry's SDK", install_fix("otel")
        if is_asked:
            raise UsageError(what, where="--otel", fix=fix) from error
        # The environment may speak of all programs on this machine.
        _log.warning("%s, so none are sent. %s", what, fix)
        return None
    return await stack.enter_async_context(open_otel())
