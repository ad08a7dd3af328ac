"""The listener of one request, and the request's time limit."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from sayso.alarm import Alarm


class Deadline:
    """A context that raises `TimeoutError` when `alarm` goes off; its work is cancelled."""

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
        """Raise `TimeoutError` if time is over, except if the task was cancelled otherwise too."""
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
"""Maximum of a server's questions during one request, because a person may have to answer."""

Notified = Callable[[str, Mapping[str, Any]], Awaitable[None]]
Asked = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


async def ignore(_method: str, _params: Mapping[str, Any]) -> None:
    """Ignore a server's notifications."""


@dataclass(slots=True, eq=False)
class Question:
    """A server's question, and the task that answers it for `listeners`."""

    task: "asyncio.Task[Any]"
    listeners: "set[RequestListener]"
    is_over: bool = False


@dataclass(slots=True, eq=False)
class RequestListener:
    """The receiver of a server's messages about one request of one `owner`.

    `capabilities` name the questions that the listener can answer. Since 2026-07-28, capabilities
    are sent with each request. The request's time limit pauses during a question.
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
        self._count += 1
        self._open += 1
        assert self._limit is not None  # noqa: S101 - nothing is asked when the request is over
        self._limit.stop()

    def go_on(self) -> None:
        """Resume the time limit, because a question has ended."""
        self._open -= 1
        if not self._open and self._limit is not None:
            self._limit.go_on()
