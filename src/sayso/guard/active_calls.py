"""The calls that servers are running for this process: each has its progress and can be stopped."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

from sayso.guard.call import Call, Progress, no_progress
from sayso.guard.shutdown import GivenUpError


class StoppedError(GivenUpError):
    """A person stopped a call while its server was running it."""


@dataclass(slots=True)
class ActiveCall:
    """A call that its server is running, with the progress that the server last reported."""

    stop: Callable[[str], None] = field(repr=False)
    done: float | None = None
    total: float | None = None
    text: str | None = None
    stopped_by: str | None = None

    def tracking(self, then: Progress) -> Progress:
        """Return a callback that stores the progress and passes it on to `then`."""

        async def report(done: float, total: float | None, text: str | None) -> None:
            self.done = done
            self.total = total
            self.text = text
            await then(done, total, text)

        return report


@dataclass(slots=True)
class ActiveCalls:
    """The active calls of this process, by id."""

    _calls: dict[str, ActiveCall] = field(default_factory=dict[str, ActiveCall])

    def find(self, call: str) -> ActiveCall | None:
        return self._calls.get(call)

    def stop(self, call: str, by: str) -> bool:
        """Stop a call on behalf of a person; return whether it was active.

        The server gets a cancellation, but may ignore it. So it is unknown whether the call ran.
        """
        active = self._calls.get(call)
        if active is None or active.stopped_by is not None:
            return False
        active.stop(by)
        return True

    def hold(self, call: Call) -> "Activation":
        """Keep a call active during a `with` block. A person's stop raises `StoppedError` there.

        The server gets a progress token if the client requested progress, or if a person approved
        the call, because that person may look at the progress.
        """
        return Activation(self._calls, call)


class Activation:
    """A context manager during which a call is active."""

    __slots__ = ("_active", "_before", "_call", "_calls", "_task")

    def __init__(self, calls: dict[str, ActiveCall], call: Call) -> None:
        self._calls = calls
        self._call = call
        self._before = call.progress
        self._task = asyncio.current_task()
        self._active = ActiveCall(self._stop)

    def __enter__(self) -> ActiveCall:
        call = self._call
        active = self._active
        self._calls[call.id] = active
        if call.approved is not None or self._before is not no_progress:
            call.progress = active.tracking(self._before)
        return active

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Turn a cancellation that a person caused into a `StoppedError`."""
        call = self._call
        by = self._active.stopped_by
        call.progress = self._before
        del self._calls[call.id]
        if isinstance(error, asyncio.CancelledError) and by is not None and self._task is not None:
            self._task.uncancel()
            call.stopped_by = by
            raise StoppedError("a person has stopped this call") from None

    def _stop(self, by: str) -> None:
        self._active.stopped_by = by
        if self._task is not None:
            self._task.cancel()
