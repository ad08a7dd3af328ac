"""Metrics as Prometheus reads them, by its own library (extra `metrics`)."""

from collections.abc import Iterable, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from typing_extensions import override

from avow import __version__
from avow.store import Commit
from avow.telemetry.gauge import Gauge, Gauges, Reading
from avow.telemetry.labels import CallLabels

_READ_SECONDS: Final = 2.0
"""How long the gauges may take together, of the ten that a scrape waits by default."""

_QUICK: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_CALLS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
_PEOPLE: Final = (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 86_400.0)


class Prometheus:
    """A `Meter` whose numbers stand on a page; its `gauges` are read for each page."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.gauges = Gauges()
        self._read = _Read(self.registry)
        ProcessCollector(registry=self.registry)
        one = self.registry
        Info("avow", "The version that runs.", registry=one).info({"version": __version__})
        self._requests = Counter(
            "avow_requests", "Requests of clients.", ("method", "error"), registry=one
        )
        self._calls = Counter(
            "avow_calls", "Calls of tools that have ended.", CallLabels._fields, registry=one
        )
        self._call_seconds = Histogram(
            "avow_call_seconds",
            "From a call's arrival to its answer, a person's time included.",
            ("server", "level"),
            registry=one,
            buckets=_CALLS,
        )
        self._decision_seconds = Histogram(
            "avow_decision_seconds",
            "From a tool found to the decision on its call.",
            registry=one,
            buckets=_QUICK,
        )
        self._upstream_seconds = Histogram(
            "avow_upstream_seconds",
            "From a request to a server to its answer.",
            ("server", "method"),
            registry=one,
            buckets=_CALLS,
        )
        self._upstream_errors = Counter(
            "avow_upstream_errors",
            "Requests to servers that failed.",
            ("server", "method", "error"),
            registry=one,
        )
        self._answer_seconds = Histogram(
            "avow_approval_answer_seconds",
            "From a question put to a person's answer, of those given here.",
            ("answer",),
            registry=one,
            buckets=_PEOPLE,
        )
        self.store = StoreMetrics(one)
        self._received_bytes = Counter(
            "avow_received_bytes", "In the bodies of requests of clients.", registry=one
        )
        self._sent_bytes = Counter(
            "avow_sent_bytes", "In the bodies of answers to them.", registry=one
        )

    def requested(self, method: str, error: str, seconds: float) -> None:
        """See `Meter.requested`."""
        del seconds
        self._requests.labels(method, error).inc()

    def called(self, labels: CallLabels, seconds: float, deciding: float | None) -> None:
        """See `Meter.called`."""
        self._calls.labels(*labels).inc()
        self._call_seconds.labels(labels.server, labels.level).observe(seconds)
        if deciding is not None:
            self._decision_seconds.observe(deciding)

    def exchanged(self, server: str, method: str, error: str, seconds: float) -> None:
        """See `Meter.exchanged`."""
        self._upstream_seconds.labels(server, method).observe(seconds)
        if error:
            self._upstream_errors.labels(server, method, error).inc()

    def heard(self, is_allowed: bool, seconds: float) -> None:  # noqa: FBT001 - as the ledger tells it
        """A person has answered."""
        self._answer_seconds.labels("allow" if is_allowed else "deny").observe(max(seconds, 0.0))

    def received(self, size: int) -> None:
        """Bytes have come from a client."""
        self._received_bytes.inc(size)

    def sent(self, size: int) -> None:
        """Bytes have gone to a client."""
        self._sent_bytes.inc(size)

    async def page(self, accept: str) -> tuple[bytes, str]:
        """The page and its content type, in the format that `accept` prefers."""
        self._read.found = await self.gauges.read(_READ_SECONDS)
        encode, kind = choose_encoder(accept)
        return encode(self.registry), kind


class StoreMetrics:
    """What the store does."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._commit_seconds = Histogram(
            "avow_store_commit_seconds",
            "To write one group of records and other changes.",
            registry=registry,
            buckets=_QUICK,
        )
        self._writes = Counter("avow_store_writes", "Records and other changes.", registry=registry)
        self._store_errors = Counter(
            "avow_store_errors", "Of them, those that could not be written.", registry=registry
        )

    def committed(self, commit: Commit) -> None:
        """The store has written."""
        self._commit_seconds.observe(commit.seconds)
        self._writes.inc(commit.jobs)
        if commit.failed:
            self._store_errors.inc(commit.failed)


class _Read(Collector):
    """Puts what was read on the page."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.found: Sequence[tuple[Gauge, Reading]] = ()
        registry.register(self)

    @override
    def collect(self) -> Iterable[GaugeMetricFamily]:
        for gauge, reading in self.found:
            family = GaugeMetricFamily(gauge.name, gauge.what, labels=gauge.labels)
            for words, value in reading:
                family.add_metric(words, value)
            yield family
