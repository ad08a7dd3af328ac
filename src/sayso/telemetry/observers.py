"""The observer of requests, calls and exchanges, for metrics, traces and the log."""

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Self

from sayso.connect import Exchange
from sayso.guard import Answer, Call
from sayso.telemetry.context import CALL, Asked
from sayso.telemetry.labels import call_labels, code_label, failure_label, method_label

if TYPE_CHECKING:
    from sayso.telemetry.metrics import Metrics
    from sayso.telemetry.spans import Spans


@dataclass(frozen=True, slots=True)
class Watch:
    """The observer that feeds metrics and traces, if they are enabled."""

    metrics: "Metrics | None" = None
    tracing: "Spans | None" = None

    def request(self, asked: Asked) -> "_Request":
        """Return the context manager in which a client's request is answered."""
        return _Request(self, asked)

    def exchange(self, exchange: Exchange) -> "_Exchange":
        """Return the context manager for an exchange with a server (a `sayso.connect.Watch`)."""
        return _Exchange(self, exchange)

    def call(self, call: Call) -> "_Trail":
        """Return the observer of a call through the guard (a `sayso.guard.context.Watch`)."""
        return _Trail(self, call)


class _Request:
    __slots__ = ("_asked", "_began", "_span", "_watch")

    def __init__(self, watch: Watch, asked: Asked) -> None:
        self._watch = watch
        self._asked = asked

    def __enter__(self) -> Self:
        tracing = self._watch.tracing
        self._span = tracing and tracing.request(self._asked)
        self._began = perf_counter()
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        seconds = perf_counter() - self._began
        label = failure_label(error) or code_label(self._asked.code)
        if self._watch.metrics is not None:
            self._watch.metrics.requested(method_label(self._asked.method), label, seconds)
        if self._span is not None:
            self._span.end(label)


class _Exchange:
    __slots__ = ("_began", "_exchange", "_span", "_watch")

    def __init__(self, watch: Watch, exchange: Exchange) -> None:
        self._watch = watch
        self._exchange = exchange

    def __enter__(self) -> Self:
        tracing = self._watch.tracing
        self._span = tracing and tracing.exchange(self._exchange)
        self._began = perf_counter()
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        seconds = perf_counter() - self._began
        exchange = self._exchange
        label = failure_label(error, is_error=exchange.is_error)
        if self._watch.metrics is not None:
            method = method_label(exchange.method)
            self._watch.metrics.exchanged(exchange.server, method, label, seconds)
        if self._span is not None:
            self._span.end(label)


class _Trail:
    """The observer of one call; the time to list the server's tools is not time to decide."""

    __slots__ = ("_began", "_call", "_decided", "_found", "_token", "_watch")

    def __init__(self, watch: Watch, call: Call) -> None:
        self._watch = watch
        self._call = call
        self._began = perf_counter()
        self._found = self._decided = 0.0
        self._token = CALL.set(call)
        if watch.tracing is not None:
            watch.tracing.began(call)

    def reach(self, step: str) -> None:
        tracing = self._watch.tracing
        if step == "validate":
            self._found = perf_counter()
        elif step == "outcome":
            self._decided = perf_counter()
            if tracing is not None:
                tracing.decided(self._call)
        elif step == "attempt" and tracing is not None:
            call = self._call
            if call.approved is not None and call.tries == 0:  # retries use the same approval
                tracing.approved(call)

    def end(self, answer: Answer | None, error: BaseException | None) -> None:
        seconds = perf_counter() - self._began
        labels = call_labels(self._call, error)
        deciding = self._decided - self._found if self._decided else None
        if self._watch.metrics is not None:
            self._watch.metrics.called(labels, seconds, deciding)
        if self._watch.tracing is not None:
            is_error = answer is not None and answer.get("isError") is True
            self._watch.tracing.ended(self._call, labels, is_error=is_error)
        CALL.reset(self._token)
