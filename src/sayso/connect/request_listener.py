"""The listener of one request: it gets the notifications and answers the questions about it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sayso.connect.deadline import Limit

if TYPE_CHECKING:
    import asyncio

MOST_QUESTIONS: Final = 100
"""How often a server may ask because of one request: there may be a person who has to answer."""

Notified = Callable[[str, Mapping[str, Any]], Awaitable[None]]
Asked = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


async def ignore(_method: str, _params: Mapping[str, Any]) -> None:
    """Take no notice of a server's notifications."""


@dataclass(slots=True, eq=False)
class Question:
    """A server's question, and the task that answers it for the listeners `ears`."""

    task: "asyncio.Task[Any] | None"
    ears: "set[RequestListener]"
    is_over: bool = False

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()


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
    _limit: Limit | None = None
    _open: int = 0
    _count: int = 0
    questions: set[Question] = field(default_factory=set[Question])

    def begin(self, limit: Limit) -> None:
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
