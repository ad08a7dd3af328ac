"""What a running gateway shows of itself: metrics, traces and structured logs.

Nothing here holds arguments, results, or who called; no label holds what a caller chose freely.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.telemetry.context import Asked
    from sayso.telemetry.gauge import Gauge, Reading
    from sayso.telemetry.logs import LogFormat, LogLevel, is_structured, set_up_logs
    from sayso.telemetry.opening import Telemetry, open_telemetry
    from sayso.telemetry.page import MetricsPage
    from sayso.telemetry.watch import Watch


__all__ = [
    "Asked",
    "Gauge",
    "LogFormat",
    "LogLevel",
    "MetricsPage",
    "Reading",
    "Telemetry",
    "Watch",
    "is_structured",
    "open_telemetry",
    "set_up_logs",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.telemetry.context": ("Asked",),
        "sayso.telemetry.gauge": ("Gauge", "Reading"),
        "sayso.telemetry.logs": ("LogFormat", "LogLevel", "is_structured", "set_up_logs"),
        "sayso.telemetry.opening": ("Telemetry", "open_telemetry"),
        "sayso.telemetry.page": ("MetricsPage",),
        "sayso.telemetry.watch": ("Watch",),
    },
)
