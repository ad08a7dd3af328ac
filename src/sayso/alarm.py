"""Many timers of one length, for the cost of one."""

import asyncio
from collections.abc import Callable

_SOON: float = 0.001
"""The resolution of the event loop's clock."""


class Alarm:
    """Calls back after `seconds`, unless the call is forgotten before. For one event loop.

    Most calls are forgotten, and a timer of the loop for each would cost more than their work.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # In the order in which they are due, since all wait for the same time.
        self._waiting: dict[object, tuple[float, Callable[[], None]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def call(self, back: Callable[[], None]) -> object:
        """Begin to wait, and return the key for `forget`."""
        loop = asyncio.get_running_loop()
        key = object()
        due = loop.time() + self.seconds
        self._waiting[key] = due, back
        if self._timer is None:
            self._timer = loop.call_at(due, self._ring, loop)
        return key

    @classmethod
    def of(cls, seconds: float | None, known: "Alarm | None" = None) -> "Alarm | None":
        """Return an alarm of this length (`known`, if that has it), or `None` without one."""
        if seconds is None:
            return None
        return known if known is not None and known.seconds == seconds else cls(seconds)

    def forget(self, key: object) -> None:
        """Drop a call that is still due."""
        self._waiting.pop(key, None)

    def _ring(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now = loop.time() + _SOON
        while self._waiting:
            key = next(iter(self._waiting))
            due, back = self._waiting[key]
            if due > now:
                self._timer = loop.call_at(due, self._ring, loop)
                return
            del self._waiting[key]
            back()
