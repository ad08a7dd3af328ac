"""Many timers of one length, for the cost of one."""

import asyncio
from collections.abc import Callable

_SOON: float = 0.001
"""The resolution of the event loop's clock."""


class Alarm:
    """A timeout of `seconds` for many functions, for one event loop.

    Most timeouts are dropped before they expire, so one timer for all is cheaper than one each.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # In the order of their due times, because all wait equally long.
        self._waiting: dict[object, tuple[float, Callable[[], None]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def call(self, back: Callable[[], None]) -> object:
        """Call `back` after `seconds`; return a key with which `forget` cancels this."""
        loop = asyncio.get_running_loop()
        key = object()
        due = loop.time() + self.seconds
        self._waiting[key] = due, back
        if self._timer is None:
            self._timer = loop.call_at(due, self._ring, loop)
        return key

    @classmethod
    def of(cls, seconds: float | None, known: "Alarm | None" = None) -> "Alarm | None":
        """Return an alarm of `seconds`: `known` if it fits, or `None` without `seconds`."""
        if seconds is None:
            return None
        return known if known is not None and known.seconds == seconds else cls(seconds)

    def forget(self, key: object) -> None:
        """Cancel the call of this key, if it was not made yet."""
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
