"""The twins of one server: for each caller one that reaches outside, and one that does not."""

import time
from collections.abc import Awaitable, Callable, Hashable, Iterator
from typing import Generic, NamedTuple

from sayso.catalog import Tool
from sayso.connect import CommandTarget
from sayso.contract.readonly_process import C, Hold, ReadonlyProcess
from sayso.guard import Answer, Call
from sayso.intent import Level


class _Which(NamedTuple):
    key: Hashable
    is_open: bool


class ReadonlyProcesses(Generic[C]):
    """Made when they are first needed; `start` has one run."""

    def __init__(
        self, target: CommandTarget, hold: Hold, start: Callable[[ReadonlyProcess[C]], None]
    ) -> None:
        self._target = target
        self._hold = hold
        self._start = start
        self._twins: dict[_Which, ReadonlyProcess[C]] = {}

    def takes(self, tool: Tool) -> bool:
        """Whether calls of a tool, as it counts now, go to a twin."""
        return tool.level is Level.READ

    async def call(
        self,
        key: Hashable,
        call: Call,
        make: Callable[[CommandTarget], C],
        send: Callable[[C], Awaitable[Answer]],
    ) -> Answer:
        """Have the twin of the caller `key` run a call; `make` connects a new one."""
        which = _Which(key, is_open=call.tool.resolved["open_world"].value)
        twin = self._twins.get(which)
        if twin is None:
            twin = ReadonlyProcess(self._target, make, self._hold, is_open=which.is_open)
            self._twins[which] = twin
            self._start(twin)
        return await twin.call(call, send)

    def contacts(self) -> Iterator[C]:
        return (twin.contact for twin in self._twins.values())

    def end_idle(self, seconds: float) -> None:
        """End those that nobody has used for so long."""
        before = time.monotonic() - seconds
        for which, twin in list(self._twins.items()):
            if twin.contact.used < before and not twin.is_busy:
                self._end(which)

    def end_of(self, key: Hashable) -> None:
        """End those of one caller."""
        for which in [twin for twin in self._twins if twin.key == key]:
            self._end(which)

    def close(self) -> None:
        """Remove what they have on disk, where they have not run either."""
        for twin in self._twins.values():
            twin.close()

    def _end(self, which: _Which) -> None:
        self._twins.pop(which).contact.end()
