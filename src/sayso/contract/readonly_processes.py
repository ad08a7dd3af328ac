"""The read-only processes of one server: for each caller one with the network, and one without."""

import time
from collections.abc import Awaitable, Callable, Hashable, Iterator
from typing import Generic, NamedTuple

from sayso.catalog import Tool
from sayso.connect import CommandTarget
from sayso.contract.readonly_process import C, Hold, ReadonlyProcess
from sayso.guard import Answer, Call
from sayso.intent import Level


class _Key(NamedTuple):
    caller: Hashable
    is_open: bool


class ReadonlyProcesses(Generic[C]):
    """The read-only processes of a server, made when they are first needed; `start` runs one."""

    def __init__(
        self, target: CommandTarget, hold: Hold, start: Callable[[ReadonlyProcess[C]], None]
    ) -> None:
        self._target = target
        self._hold = hold
        self._start = start
        self._processes: dict[_Key, ReadonlyProcess[C]] = {}

    def takes(self, tool: Tool) -> bool:
        """Return whether calls of a tool go to a read-only process."""
        return tool.level is Level.READ

    async def call(
        self,
        caller: Hashable,
        call: Call,
        make: Callable[[CommandTarget], C],
        send: Callable[[C], Awaitable[Answer]],
    ) -> Answer:
        """Run a call in the process of `caller`; `make` connects a new one."""
        key = _Key(caller, is_open=call.tool.resolved["open_world"].value)
        process = self._processes.get(key)
        if process is None:
            process = ReadonlyProcess(self._target, make, self._hold, is_open=key.is_open)
            self._processes[key] = process
            self._start(process)
        return await process.call(call, send)

    def connections(self) -> Iterator[C]:
        return (process.connection for process in self._processes.values())

    def end_idle(self, seconds: float) -> None:
        """End the processes that were not used for that long."""
        before = time.monotonic() - seconds
        for key, process in list(self._processes.items()):
            if process.connection.used < before and not process.is_busy:
                self._processes.pop(key).connection.end()

    def end_of(self, caller: Hashable) -> None:
        """End the processes of one caller."""
        for key in [key for key in self._processes if key.caller == caller]:
            self._processes.pop(key).connection.end()

    def close(self) -> None:
        """Remove their files, also those of processes that have not run."""
        for process in self._processes.values():
            process.close()
