"""Metrics, traces and structured logs of a running gateway.

They contain no arguments, results or callers, and a caller cannot choose the value of a label.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.telemetry.context import Asked
    from sayso.telemetry.gauge import Gauge, Reading
    from sayso.telemetry.logs import LogFormat, LogLevel, is_structured, set_up_logs
    from sayso.telemetry.metrics_page import MetricsPage
    from sayso.telemetry.observers import Watch
    from sayso.telemetry.setup import Telemetry, open_telemetry


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
        "sayso.telemetry.setup": ("Telemetry", "open_telemetry"),
        "sayso.telemetry.metrics_page": ("MetricsPage",),
        "sayso.telemetry.observers": ("Watch",),
    },
)
