"""Worker processes on one port, and the parent that starts and restarts them.

All workers share the listening socket. If one dies, the others accept the waiting connections.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sayso.cli.drain import PAUSE_SECONDS, TELL_SECONDS
from sayso.service import notify_ready

_YOUNG_SECONDS: Final = 5.0
_MAX_BACKOFF_SECONDS: Final = 5.0
_MIN_BACKOFF_SECONDS: Final = 0.1
_POLL_SECONDS: Final = 0.05
_GRACE_SECONDS: Final = 5.0
_FAILED: Final = 70
_CLEAN: Final = (0, -signal.SIGTERM)
"""Exit codes of a graceful end; SIGTERM kills a worker that has not begun to serve."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One of several worker processes; `place` is its number.

    `is_first` is false after a restart. The worker writes to the pipe `ready` when it serves. The
    pipe `life` closes when the parent ends.
    """

    place: int
    is_first: bool
    ready: int
    life: int

    @property
    def speaks(self) -> bool:
        """True for the worker that reports for all."""
        return self.place == 0

    def serves(self) -> None:
        """Tell the parent that this worker serves; the parent then starts the other workers."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.ready, b".")
        os.close(self.ready)


@dataclass(slots=True)
class _Place:
    number: int
    pid: int = 0
    began: float = 0.0
    pause: float = 0.0
    lives: int = 0


@dataclass(slots=True)
class Parent:
    """The parent of `count` processes that run `work`; each may take `drain` seconds to end."""

    count: int
    work: Callable[[Worker], int]
    drain: float
    tell: Callable[[str], None]
    _places: dict[int, _Place] = field(default_factory=dict[int, _Place])
    _ending: int = 0
    _is_clean: bool = True
    _life: tuple[int, int] = (-1, -1)

    def run(self) -> int:
        """Run until a signal, or until the first process fails to serve.

        In a worker process, return the exit code of `work`. Return 0 after SIGTERM once all
        processes have ended gracefully. Raises `KeyboardInterrupt` after SIGINT, after a second
        signal, or if a process did not end gracefully.
        """
        self._life = os.pipe()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(number, self._signalled)
        first = _Place(0)
        worker, ready = self._start(first)
        if worker is not None:
            return self.work(worker)
        serves = os.read(ready, 1)
        os.close(ready)
        if not serves:
            code = os.waitstatus_to_exitcode(os.waitpid(first.pid, 0)[1])
            if self._ending:
                return self._ended(is_clean=code in _CLEAN)
            if code > 0:
                return code
            return _FAILED
        notify_ready()
        for number in range(1, self.count):
            worker, ready = self._start(_Place(number))
            if worker is not None:
                return self.work(worker)
            os.close(ready)
        worker = self._keep()
        if worker is not None:
            return self.work(worker)
        return self._ended(is_clean=self._is_clean)

    def _ended(self, *, is_clean: bool) -> int:
        if self._ending == signal.SIGTERM and is_clean:
            return 0
        raise KeyboardInterrupt

    def _keep(self) -> Worker | None:
        """Restart ended workers; return a `Worker` in a new process, `None` in the parent."""
        while self._places:
            pid, status = os.wait()
            place = self._places.pop(pid, None)
            if self._ending and os.waitstatus_to_exitcode(status) not in _CLEAN:
                self._is_clean = False
            if place is None or self._ending:
                continue
            self.tell(f"worker {pid} {_how(status)}: restarting")
            is_young = time.monotonic() - place.began < _YOUNG_SECONDS
            place.pause = (
                min(max(place.pause * 2, _MIN_BACKOFF_SECONDS), _MAX_BACKOFF_SECONDS) * is_young
            )
            self._rest(place.pause)
            if not self._ending:
                worker, ready = self._start(place)
                if worker is not None:
                    return worker
                os.close(ready)
        return None

    def _start(self, place: _Place) -> tuple[Worker | None, int]:
        """Fork; return the `Worker` (`None` in the parent) and the parent's end of `ready`."""
        ready, says = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        # Block signals, so that the child never runs the parent's handler.
        blocked = {signal.SIGTERM, signal.SIGINT, signal.SIGALRM}
        signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
            # The parent receives Ctrl-C and passes it on.
            os.setpgid(0, 0)
            os.close(ready)
            os.close(self._life[1])
            return Worker(place.number, place.lives == 0, says, self._life[0]), -1
        os.close(says)
        place.pid, place.began, place.lives = pid, time.monotonic(), place.lives + 1
        self._places[pid] = place
        if self._ending:
            # The signal came before this worker existed.
            os.kill(pid, self._ending)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
        return None, ready

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._ending and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)

    def _signalled(self, number: int, _frame: object) -> None:
        if number == signal.SIGALRM:
            number = signal.SIGKILL
        elif not self._ending:
            self._ending = number
            limit = self.drain + PAUSE_SECONDS + 2 * TELL_SECONDS + _GRACE_SECONDS
            signal.setitimer(signal.ITIMER_REAL, limit)
        for pid in [*self._places]:
            # A worker that has just been waited for may still be listed.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"ended with code {code}"
    return f"was killed by signal {-code}"
