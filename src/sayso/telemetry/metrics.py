"""The instruments for the Prometheus page and for OTLP; times are in seconds.

The page uses the names in docs/guides/gateway.md, and OTLP those of OpenTelemetry for MCP.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Meter, NoOpMeter, Observation

from sayso.errors import SaysoError
from sayso.store import Commit
from sayso.telemetry.gauge import Gauge, Reading
from sayso.telemetry.labels import CallLabels

_READ_SECONDS: Final = 2.0
"""The time limit for all gauges together; Prometheus' scrape timeout is 10 s by default."""

_QUICK: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_CALLS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
_PEOPLE: Final = (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 86_400.0)
_MCP: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""The buckets that the conventions for MCP recommend."""


class Metrics:
    """All instruments, created by the meters `page` and `sent`; a meter may be missing."""

    def __init__(self, page: Meter | None = None, sent: Meter | None = None) -> None:
        self._page = _Page(page or NoOpMeter("page"))
        self._sent = _Sent(sent or NoOpMeter("sent"))

    def requested(self, method: str, error: str, seconds: float) -> None:
        self._page.requests.add(1, {"method": method, "error": error})
        self._sent.server_seconds.record(seconds, _operation(method, error))

    def called(self, labels: CallLabels, seconds: float, deciding: float | None) -> None:
        """Count a finished call; `deciding` is the time that its decision took."""
        words = labels._asdict()
        self._page.calls.add(1, words)
        server_and_level = {"server": labels.server, "level": labels.level}
        self._page.call_seconds.record(seconds, server_and_level)
        if deciding is not None:
            self._page.decision_seconds.record(deciding)
        self._sent.calls.add(1, {f"sayso.{name}": word for name, word in words.items()})

    def exchanged(self, server: str, method: str, error: str, seconds: float) -> None:
        labels = {"server": server, "method": method}
        self._page.upstream_seconds.record(seconds, labels)
        if error:
            self._page.upstream_errors.add(1, {**labels, "error": error})
        attributes = {**_operation(method, error), "sayso.server": server}
        self._sent.client_seconds.record(seconds, attributes)

    def heard(self, is_allowed: bool, seconds: float) -> None:  # noqa: FBT001 - called by approvals
        answer = "allow" if is_allowed else "deny"
        self._page.answer_seconds.record(max(seconds, 0.0), {"answer": answer})

    def committed(self, commit: Commit) -> None:
        self._page.commit_seconds.record(commit.seconds)
        self._page.writes.add(commit.jobs)
        self._page.store_errors.add(commit.failed)

    def received(self, size: int) -> None:
        self._page.received.add(size)

    def sent(self, size: int) -> None:
        self._page.sent.add(size)


class _Page:
    """The instruments of the page; counters without labels appear before their first count."""

    def __init__(self, meter: Meter) -> None:
        def count(name: str, description: str) -> Counter:
            return meter.create_counter(f"sayso_{name}", "", description)

        def time(name: str, buckets: Sequence[float], description: str) -> Histogram:
            return meter.create_histogram(
                f"sayso_{name}_seconds",
                "",
                description,
                explicit_bucket_boundaries_advisory=buckets,
            )

        self.requests = count("requests", "Requests of clients.")
        self.calls = count("calls", "Finished tool calls.")
        what = "Duration of a call, including the wait for an approval."
        self.call_seconds = time("call", _CALLS, what)
        what = "Time from finding the tool to the decision."
        self.decision_seconds = time("decision", _QUICK, what)
        what = "Duration of a request to a server."
        self.upstream_seconds = time("upstream", _CALLS, what)
        self.upstream_errors = count("upstream_errors", "Failed requests to servers.")
        what = "Time from a question to a person's answer in this process."
        self.answer_seconds = time("approval_answer", _PEOPLE, what)
        what = "Time to write one group of records and other changes."
        self.commit_seconds = time("store_commit", _QUICK, what)
        self.writes = count("store_writes", "Records and other changes.")
        self.store_errors = count("store_errors", "Records and changes that failed to be written.")
        self.received = count("received_bytes", "Bytes in the bodies of clients' requests.")
        self.sent = count("sent_bytes", "Bytes in the bodies of responses to clients.")
        for counter in (self.writes, self.store_errors, self.received, self.sent):
            counter.add(0)


class _Sent:
    """The instruments of the conventions for MCP."""

    def __init__(self, meter: Meter) -> None:
        def time(side: str, description: str) -> Histogram:
            name = f"mcp.{side}.operation.duration"
            return meter.create_histogram(
                name, "s", description, explicit_bucket_boundaries_advisory=_MCP
            )

        self.server_seconds = time("server", "Duration of a client's request.")
        self.client_seconds = time("client", "Duration of a request to a server.")
        self.calls = meter.create_counter("sayso.calls", "{call}", "Finished tool calls.")


@dataclass(slots=True)
class ObservedGauges:
    """Gauges that are read before each page is rendered.

    If reading a gauge hangs, the page omits that gauge, and it is not read again until that ends.
    """

    meter: Meter
    _gauges: list[Gauge] = field(default_factory=list[Gauge])
    _pending: dict[str, asyncio.Task[Reading | None]] = field(
        default_factory=dict[str, "asyncio.Task[Reading | None]"]
    )
    _readings: dict[str, tuple[Gauge, Reading]] = field(
        default_factory=dict[str, tuple[Gauge, Reading]]
    )

    def watch(self, gauges: Iterable[Gauge]) -> None:
        self._gauges = [*gauges]
        for gauge in self._gauges:

            def observe(_: CallbackOptions, name: str = gauge.name) -> Iterable[Observation]:
                return self._observations(name)

            self.meter.create_observable_gauge(gauge.name, [observe], "", gauge.what)

    async def read(self, seconds: float = _READ_SECONDS) -> Sequence[str]:
        """Read the gauges, and return the names of those that succeeded within `seconds`."""
        for gauge in self._gauges:
            if gauge.name not in self._pending:
                self._pending[gauge.name] = asyncio.create_task(_read(gauge))
        if self._gauges:
            await asyncio.wait(self._pending.values(), timeout=seconds)
        self._readings.clear()
        for gauge in self._gauges:
            if self._pending[gauge.name].done():
                reading = self._pending.pop(gauge.name).result()
                if reading is not None:
                    self._readings[gauge.name] = (gauge, reading)
        return [*self._readings]

    def _observations(self, name: str) -> Iterable[Observation]:
        if name not in self._readings:
            return
        gauge, reading = self._readings[name]
        for words, value in reading:
            yield Observation(value, dict(zip(gauge.labels, words, strict=True)))


async def _read(gauge: Gauge) -> Reading | None:
    try:
        return await gauge.read()
    except SaysoError:
        # Omit this gauge only. If the store failed, `store_errors` counts that.
        return None


def _operation(method: str, error: str) -> dict[str, str]:
    attributes = {"mcp.method.name": method}
    if error:
        attributes["error.type"] = error
    return attributes
