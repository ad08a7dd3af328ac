"""Looks on at requests, calls and exchanges, once, for all who want to know of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from sayso.connect import Exchange
from sayso.guard import Answer, Call
from sayso.telemetry.context import CALL
from sayso.telemetry.labels import (
    CallLabels,
    call_labels,
    code_label,
    failure_label,
    method_label,
)

if TYPE_CHECKING:
    from sayso.telemetry.metrics import Metrics


@dataclass(slots=True)
class Asked:
    """One request of a client. `meta` is its `_meta`, `prompt` the prompt that it names.

    `code` is the code of the error that it ends with, set by whoever answers it.
    """

    method: str
    id: int | str | None
    version: str
    session: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    prompt: str | None = None
    code: int | None = None


class Span(Protocol):
    """The trace of something that goes on."""

    def end(self, error: str) -> None:
        """It is over, with an error where that is not empty."""
        ...


class Tracing(Protocol):
    """Makes the spans of a trace."""

    def request(self, asked: Asked) -> Span:
        """A request of a client has come in."""
        ...

    def exchange(self, exchange: Exchange) -> Span:
        """A request goes to a server; puts the trace on it that it takes along."""
        ...

    def began(self, call: Call) -> None:
        """A call begins, within a request."""
        ...

    def decided(self, call: Call) -> None:
        """A call has its decision."""
        ...

    def approved(self, call: Call) -> None:
        """A person has said that a call may run."""
        ...

    def ended(self, call: Call, labels: CallLabels, *, is_error: bool) -> None:
        """A call has ended."""
        ...


@dataclass(frozen=True, slots=True)
class Watch:
    """Everybody who looks on."""

    metrics: "Metrics | None" = None
    tracing: Tracing | None = None

    def request(self, asked: Asked) -> "_Request":
        """Around the answering of a request."""
        return _Request(self, asked)

    def exchange(self, exchange: Exchange) -> "_Exchange":
        """Around an exchange with a server: a `sayso.connect.watch.Watch`."""
        return _Exchange(self, exchange)

    def call(self, call: Call) -> "_Trail":
        """Along a call through the guard: a `sayso.guard.step.Watch`."""
        return _Trail(self, call)


class _Request:
    __slots__ = ("_asked", "_began", "_span", "_watch")

    def __init__(self, watch: Watch, asked: Asked) -> None:
        self._watch = watch
        self._asked = asked

    def __enter__(self) -> Self:
        tracing = self._watch.tracing
        self._span = None if tracing is None else tracing.request(self._asked)
        self._began = perf_counter()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        seconds = perf_counter() - self._began
        told = failure_label(error) or code_label(self._asked.code)
        method = method_label(self._asked.method)
        if self._watch.metrics is not None:
            self._watch.metrics.requested(method, told, seconds)
        if self._span is not None:
            self._span.end(told)


class _Exchange:
    __slots__ = ("_began", "_exchange", "_span", "_watch")

    def __init__(self, watch: Watch, exchange: Exchange) -> None:
        self._watch = watch
        self._exchange = exchange

    def __enter__(self) -> Self:
        tracing = self._watch.tracing
        self._span = None if tracing is None else tracing.exchange(self._exchange)
        self._began = perf_counter()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        seconds = perf_counter() - self._began
        exchange = self._exchange
        told = failure_label(error, is_error=exchange.is_error)
        if self._watch.metrics is not None:
            method = method_label(exchange.method)
            self._watch.metrics.exchanged(exchange.server, method, told, seconds)
        if self._span is not None:
            self._span.end(told)


class _Trail:
    """One call. What asks its server for its list of tools does not count as deciding."""

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
        elif step == "attempt" and tracing is not None and self._is_approved_now:
            tracing.approved(self._call)

    @property
    def _is_approved_now(self) -> bool:
        """Whether this is the first try on an approval; later tries run on the same one."""
        return self._call.approved is not None and self._call.tries == 0

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
