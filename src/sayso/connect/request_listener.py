"""The listener of one request, and the request's time limit."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import asyncio

import asyncio
from typing import Self

from sayso.alarm import Alarm


class Deadline:
    """Cancels what is done within it when `alarm` goes off, and raises `TimeoutError` outside."""

    __slots__ = ("_alarm", "_before", "_key", "_task", "is_over")

    def __init__(self, alarm: Alarm | None) -> None:
        self._alarm = alarm
        self._key: object = None
        self.is_over = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a request is made by a task
        self._task = task
        self._before = task.cancelling()
        self.go_on()
        return self

    def __exit__(self, kind: object, error: BaseException | None, _trace: object) -> None:
        """Let a cancellation by others that comes at the same time take effect."""
        self.stop()
        if not self.is_over:
            return
        is_ours = self._task.uncancel() <= self._before
        if is_ours and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def stop(self) -> None:
        if self._alarm is not None:
            self._alarm.forget(self._key)

    def go_on(self) -> None:
        if self._alarm is not None and not self.is_over:
            self._key = self._alarm.call(self._end)

    def _end(self) -> None:
        self.is_over = True
        self._task.cancel()


MOST_QUESTIONS: Final = 100
"""How often a server may ask because of one request: there may be a person who has to answer."""

Notified = Callable[[str, Mapping[str, Any]], Awaitable[None]]
Asked = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


async def ignore(_method: str, _params: Mapping[str, Any]) -> None:
    """Take no notice of a server's notifications."""


@dataclass(slots=True, eq=False)
class Question:
    """A server's question, and the task that answers it for `listeners`."""

    task: "asyncio.Task[Any]"
    listeners: "set[RequestListener]"
    is_over: bool = False


@dataclass(slots=True, eq=False)
class RequestListener:
    """Goes along with one request. Of two with one `owner`, either may be asked.

    `capabilities` are what it can answer, as a server is told with the request since 2026-07-28;
    before, that was agreed on when the connection was opened. While something is asked, the time
    that the request may take stands still: people think.
    """

    owner: object
    capabilities: Mapping[str, Any]
    asked: Asked
    notified: Notified = ignore
    _limit: Deadline | None = None
    _open: int = 0
    _count: int = 0
    questions: set[Question] = field(default_factory=set[Question])

    def begin(self, limit: Deadline) -> None:
        self._limit = limit

    def end(self) -> None:
        self._limit = None

    @property
    def is_patient(self) -> bool:
        return self._count < MOST_QUESTIONS

    def stop(self) -> None:
        """Stop the clock: a question is asked."""
        self._count += 1
        self._open += 1
        assert self._limit is not None  # noqa: S101 - nothing is asked when the request is over
        self._limit.stop()

    def go_on(self) -> None:
        """Start the clock again: a question was answered, or will not be."""
        self._open -= 1
        if not self._open and self._limit is not None:
            self._limit.go_on()
