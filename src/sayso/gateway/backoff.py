"""Attempts to connect to a server, with exponential backoff."""

import random
import time
from dataclasses import dataclass, field
from typing import Final

import anyio

from sayso.connect import Link
from sayso.errors import SaysoError

_PAUSE_SECONDS: Final = 1.0
_MAX_PAUSE_SECONDS: Final = 60.0
"""The maximum pause. The pause grows with each failure, so that a broken server is not started for
every call. During a pause all callers get the error of the last attempt."""


@dataclass(slots=True)
class ConnectionAttempt:
    """An attempt to connect, for which any number of callers may wait.

    `before` is the error of the attempt before this one.
    """

    before: SaysoError | None = None
    done: anyio.Event = field(default_factory=anyio.Event)
    link: Link | None = None
    error: SaysoError | None = None
    ended_at: float = 0.0
    pause: float = 0.0

    @property
    def is_held(self) -> bool:
        return self.link is not None and not self.link.closed.is_set()

    @property
    def is_over(self) -> bool:
        """Return whether another attempt is due: no link is open, and the pause has ended."""
        is_due = self.done.is_set() and not self.is_held
        return is_due and time.monotonic() - self.ended_at >= self.pause

    @property
    def pause_for_listeners(self) -> float:
        """Return the seconds (more than zero) before an attempt for listeners only."""
        return max(self.pause, _PAUSE_SECONDS)


def pause_after(failures: int) -> float:
    """Return the seconds to pause after that many failures in a row, with jitter."""
    if failures < 1:
        return 0.0
    longest = min(_MAX_PAUSE_SECONDS, _PAUSE_SECONDS * 2.0 ** min(failures - 1, 16))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - no secret, only spread
