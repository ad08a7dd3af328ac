"""The time limit of a request: like `asyncio.timeout`, but many limits share one timer."""

import asyncio
from typing import Self

from sayso.alarm import Alarm


class Limit:
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
