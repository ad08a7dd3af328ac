"""What is counted and timed, by OpenTelemetry: for the page that Prometheus reads, and for OTLP.

The page has the names of docs/gateway.md; what is sent has the names of the conventions for MCP.
Times are in seconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Meter, NoOpMeter, Observation

from sayso.store import Commit
from sayso.telemetry.gauge import Gauge, Gauges, Reading
from sayso.telemetry.labels import CallLabels

_READ_SECONDS: Final = 2.0
"""How long the gauges may take together, of the ten that a scrape waits by default."""

_QUICK: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_CALLS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
_PEOPLE: Final = (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 86_400.0)
_MCP: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""What the conventions for MCP advise."""


class Metrics:
    """All instruments. `page` and `sent` make them; one that is left out records nothing."""

    def __init__(self, page: Meter | None = None, sent: Meter | None = None) -> None:
        self._page = _Page(page or NoOpMeter("page"))
        self._sent = _Sent(sent or NoOpMeter("sent"))

    def requested(self, method: str, error: str, seconds: float) -> None:
        """Count a request of a client that was answered."""
        self._page.requests.add(1, {"method": method, "error": error})
        self._sent.server_seconds.record(seconds, _operation(method, error))

    def called(self, labels: CallLabels, seconds: float, deciding: float | None) -> None:
        """Count a call that has ended; `deciding` is the time of its decision, if one was made."""
        words = labels._asdict()
        self._page.calls.add(1, words)
        server_and_level = {"server": labels.server, "level": labels.level}
        self._page.call_seconds.record(seconds, server_and_level)
        if deciding is not None:
            self._page.decision_seconds.record(deciding)
        self._sent.calls.add(1, {f"sayso.{name}": word for name, word in words.items()})

    def exchanged(self, server: str, method: str, error: str, seconds: float) -> None:
        """Count a request to a server that was answered, or was not."""
        labels = {"server": server, "method": method}
        self._page.upstream_seconds.record(seconds, labels)
        if error:
            self._page.upstream_errors.add(1, {**labels, "error": error})
        attributes = {**_operation(method, error), "sayso.server": server}
        self._sent.client_seconds.record(seconds, attributes)

    def heard(self, is_allowed: bool, seconds: float) -> None:  # noqa: FBT001 - as the ledger tells it
        """Count a person's answer."""
        answer = "allow" if is_allowed else "deny"
        self._page.answer_seconds.record(max(seconds, 0.0), {"answer": answer})

    def committed(self, commit: Commit) -> None:
        """Count what the store has written."""
        self._page.commit_seconds.record(commit.seconds)
        self._page.writes.add(commit.jobs)
        self._page.store_errors.add(commit.failed)

    def received(self, size: int) -> None:
        """Count bytes that have come from a client."""
        self._page.received.add(size)

    def sent(self, size: int) -> None:
        """Count bytes that have gone to a client."""
        self._page.sent.add(size)


class _Page:
    """The instruments of the page. A counter without labels stands there from the start."""

    def __init__(self, meter: Meter) -> None:
        def total(name: str, description: str) -> Counter:
            counter = meter.create_counter(f"sayso_{name}", "", description)
            counter.add(0)
            return counter

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
        self.calls = count("calls", "Calls of tools that have ended.")
        what = "From a call's arrival to its answer, a person's time included."
        self.call_seconds = time("call", _CALLS, what)
        what = "From a tool found to the decision on its call."
        self.decision_seconds = time("decision", _QUICK, what)
        what = "From a request to a server to its answer."
        self.upstream_seconds = time("upstream", _CALLS, what)
        self.upstream_errors = count("upstream_errors", "Requests to servers that failed.")
        what = "From a question put to a person's answer, of those given here."
        self.answer_seconds = time("approval_answer", _PEOPLE, what)
        what = "To write one group of records and other changes."
        self.commit_seconds = time("store_commit", _QUICK, what)
        self.writes = total("store_writes", "Records and other changes.")
        self.store_errors = total("store_errors", "Of them, those that could not be written.")
        self.received = total("received_bytes", "In the bodies of requests of clients.")
        self.sent = total("sent_bytes", "In the bodies of answers to them.")


class _Sent:
    """The instruments of the conventions for MCP."""

    def __init__(self, meter: Meter) -> None:
        self.server_seconds = meter.create_histogram(
            "mcp.server.operation.duration",
            "s",
            "From a request of a client to its answer.",
            explicit_bucket_boundaries_advisory=_MCP,
        )
        self.client_seconds = meter.create_histogram(
            "mcp.client.operation.duration",
            "s",
            "From a request to a server to its answer.",
            explicit_bucket_boundaries_advisory=_MCP,
        )
        self.calls = meter.create_counter("sayso.calls", "{call}", "Calls of tools that ended.")


@dataclass(slots=True)
class ObservedGauges:
    """Gauges that are read before each page, and given to `meter` while it is made."""

    meter: Meter
    gauges: Gauges = field(default_factory=Gauges)
    _readings: dict[str, tuple[Gauge, Reading]] = field(
        default_factory=dict[str, tuple[Gauge, Reading]]
    )

    def watch(self, gauges: Iterable[Gauge]) -> None:
        """Show these gauges from now on."""
        self.gauges.all = [*gauges]
        for gauge in self.gauges.all:

            def observe(_: CallbackOptions, name: str = gauge.name) -> Iterable[Observation]:
                return self._observations(name)

            self.meter.create_observable_gauge(gauge.name, [observe], "", gauge.what)

    async def read(self) -> None:
        """Read the gauges; one that fails or takes too long is left out."""
        found = await self.gauges.read(_READ_SECONDS)
        self._readings = {gauge.name: (gauge, reading) for gauge, reading in found}

    def _observations(self, name: str) -> Iterable[Observation]:
        if name not in self._readings:
            return
        gauge, reading = self._readings[name]
        for words, value in reading:
            yield Observation(value, dict(zip(gauge.labels, words, strict=True)))


def _operation(method: str, error: str) -> dict[str, str]:
    attributes = {"mcp.method.name": method}
    return {**attributes, "error.type": error} if error else attributes
