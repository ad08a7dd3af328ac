"""The database's clock, carried on by this machine between two looks at it."""

import logging
import time
from dataclasses import dataclass
from typing import Final

_DIFFERENCE_SECONDS: Final = 2.0
"""From which difference on a machine's clock is reported."""

_log: Final = logging.getLogger(__name__)


def elapsed() -> float:
    """Seconds by a clock that nobody sets, and that goes on while the machine sleeps."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


@dataclass(slots=True)
class DatabaseClock:
    """Unix seconds by the database's clock, which all processes that share it go by.

    Until it is first set it is this machine's own clock. A difference of more than 2 s between the
    two is logged, once until it changes.
    """

    where: str
    _set_at: tuple[float, float] | None = None
    _reported: float = 0.0

    def __call__(self) -> float:
        """Return the time."""
        if self._set_at is None:
            return time.time()
        now, at = self._set_at
        return now + elapsed() - at

    def set(self, now: float, began: float) -> None:
        """Take over the database's time `now`, asked for when `elapsed()` was `began`."""
        ended = elapsed()
        # The answer was made somewhere in between.
        self._set_at = now, (began + ended) / 2
        ahead = time.time() - self()
        if abs(ahead - self._reported) > _DIFFERENCE_SECONDS:
            self._reported = ahead
            _log.warning(
                "%s: this machine's clock is %.1f s %s the database's; the database's counts for "
                "approvals",
                self.where,
                abs(ahead),
                "ahead of" if ahead > 0 else "behind",
            )
