"""The calls that servers have just now, in this process: how far each is, and how to stop one."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

from avow.guard.call import Call, Progress, no_progress
from avow.guard.ending import GivenUpError


class StoppedError(GivenUpError):
    """A person has stopped a call while its server had it."""


@dataclass(slots=True)
class Run:
    """One call that its server has: how far it says it is, and of how much, if it says so."""

    stop: Callable[[str], None] = field(repr=False)
    done: float | None = None
    total: float | None = None
    text: str | None = None
    stopped_by: str | None = None

    def hearing(self, then: Progress) -> Progress:
        """Keeps what the server tells last, and passes it on."""

        async def told(done: float, total: float | None, text: str | None) -> None:
            self.done, self.total, self.text = done, total, text
            await then(done, total, text)

        return told


@dataclass(slots=True)
class Running:
    """All such calls, by their ids."""

    _runs: dict[str, Run] = field(default_factory=dict[str, Run])

    def find(self, call: str) -> Run | None:
        """The run of a call, while it lasts."""
        return self._runs.get(call)

    def stop(self, call: str, by: str) -> bool:
        """Stop a call on behalf of a person; whether it was there to stop.

        Its server is told, and need not obey: whether it ran is not known then.
        """
        run = self._runs.get(call)
        if run is None or run.stopped_by is not None:
            return False
        run.stop(by)
        return True

    def hold(self, call: Call) -> "Held":
        """Know of a call while its server has it. Raises `StoppedError` where it was stopped.

        Its server is asked how far it is where anybody would look at that: the client, or whoever
        has approved it.
        """
        return Held(self._runs, call)


class Held:
    """See `Running.hold`."""

    __slots__ = ("_before", "_call", "_run", "_runs", "_task")

    def __init__(self, runs: dict[str, Run], call: Call) -> None:
        self._runs = runs
        self._call = call
        self._before = call.progress
        self._task = asyncio.current_task()
        self._run = Run(self._stop)

    def __enter__(self) -> Run:
        """From now on it can be found."""
        call, run = self._call, self._run
        self._runs[call.id] = run
        if call.approved is not None or self._before is not no_progress:
            call.progress = run.hearing(self._before)
        return run

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Only a cancellation that a person caused becomes a `StoppedError`."""
        call, by = self._call, self._run.stopped_by
        call.progress = self._before
        del self._runs[call.id]
        if isinstance(error, asyncio.CancelledError) and by is not None and self._task is not None:
            self._task.uncancel()
            call.stopped_by = by
            raise StoppedError("a person has stopped this call") from None

    def _stop(self, by: str) -> None:
        self._run.stopped_by = by
        if self._task is not None:
            self._task.cancel()
