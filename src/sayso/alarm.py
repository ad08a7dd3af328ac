"""Many timers of one length, for the cost of one."""

import asyncio
from collections.abc import Callable

_SOON: float = 0.001
"""The event loop counts in milliseconds."""


class Alarm:
    """Calls back in `seconds`, but for what is forgotten before: most is. For one event loop.

    A timer of the loop's own for each would take longer than most of what they are for.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # In the order in which they are due, since all wait for the same time.
        self._waiting: dict[object, tuple[float, Callable[[], None]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def call(self, back: Callable[[], None]) -> object:
        """Begin to wait; what it gives is to be forgotten by."""
        loop = asyncio.get_running_loop()
        key = object()
        due = loop.time() + self.seconds
        self._waiting[key] = due, back
        if self._timer is None:
            self._timer = loop.call_at(due, self._ring, loop)
        return key

    @classmethod
    def of(cls, seconds: float | None, known: "Alarm | None" = None) -> "Alarm | None":
        """One of this length, `known` where that is it; none where nothing ends."""
        if seconds is None:
            return None
        return known if known is not None and known.seconds == seconds else cls(seconds)

    def forget(self, key: object) -> None:
        """Do not call back, if that has not happened."""
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
