"""Read-only processes: extra processes of a server that can change nothing and are watched."""

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

import anyio

from sayso.audit import Outcome
from sayso.catalog import Tool
from sayso.connect import CommandTarget, RpcError
from sayso.contract.attempts import Attempt, Attempts
from sayso.contract.wrap import trace_of, wrap
from sayso.errors import SaysoError
from sayso.guard import Answer, Call, tool_error
from sayso.intent import Level
from sayso.sandbox import Programs

_log: Final = logging.getLogger(__name__)

_LOCKS: Final = Path("/proc/locks")
_NO_PROCESS: Final = "-1"
"""The holder in /proc/locks of a lock that belongs to an open file, not to a process."""
_BROKEN: Final = (
    "This tool counts as read-only, and the call tried to change something. That failed, and the "
    "tool is in quarantine: it is not called again until a person has looked at it."
)
_CONFINED: Final = "Nothing was run: this tool is in quarantine until a person lifts that."


class Connection(Protocol):
    """The connection to a read-only process. `used` is the `time.monotonic` of its last use."""

    used: float

    @property
    def is_busy(self) -> bool: ...

    async def run(self) -> None: ...

    async def link(self) -> object: ...

    def end(self) -> None: ...


C = TypeVar("C", bound=Connection)


class Report(Protocol):
    """The record of tools that broke their contract."""

    def holds(self, tool: Tool) -> bool: ...

    async def add(
        self, tool: Tool, evidence: Sequence[str], *, call: str, subject: str
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Hold:
    """The means to enforce a server's contract: sandbox programs, and the record of breaches."""

    programs: Programs
    report: Report


class ReadonlyProcess(Generic[C]):
    """A read-only process, and the connection to it. It runs one call at a time.

    An attempt during a call belongs to that call. An attempt at the start or between calls belongs
    to no call. If such an attempt is repeated during a call, it still belongs to no call.
    """

    def __init__(
        self,
        target: CommandTarget,
        make: Callable[[CommandTarget], C],
        hold: Hold,
        *,
        is_open: bool,
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sayso-twin-"))
        self._name = target.name
        self._hold = hold
        self._attempts = Attempts(trace_of(self._folder), target, is_open=is_open)
        self._lock = anyio.Lock()
        self._between_calls: set[Attempt] = set()
        self._reported_locks: set[Attempt] = set()
        self.connection = make(wrap(target, self._folder, hold.programs, is_open=is_open))

    async def run(self) -> None:
        """Run the connection until it is cancelled or ended, then remove the process's files."""
        try:
            await self.connection.run()
        finally:
            self.close()

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def is_busy(self) -> bool:
        """Return whether a call is under way, or the process is being connected."""
        return self._lock.locked() or self.connection.is_busy

    async def call(self, call: Call, send: Callable[[C], Awaitable[Answer]]) -> Answer:
        """Run a call in the process. If it broke the contract, report it and return an error."""
        async with self._lock:
            if self._hold.report.holds(call.tool):
                # An earlier call broke the contract while this one waited for the lock.
                call.outcome = Outcome.DENIED
                return tool_error(_CONFINED)
            await self.connection.link()
            self._pass_over()
            try:
                answer = await send(self.connection)
            except (RpcError, SaysoError):
                if not await self._breaks(call):
                    raise
                return tool_error(_BROKEN)
            except BaseException:
                await self._breaks(call)
                raise
            if await self._breaks(call):
                return tool_error(_BROKEN)
            return answer

    def _kept_locks(self, call: Call, tried: Sequence[Attempt]) -> tuple[str, ...]:
        locks = [
            attempt
            for attempt in tried
            if attempt.holder and is_locked(attempt.target, by=attempt.holder)
        ]
        message = "%s: keeps a lock on %s, so writes to that file may have to wait"
        for attempt in locks:
            if attempt not in self._reported_locks:
                self._reported_locks.add(attempt)
                _log.warning(message, call.name, attempt.target)
        return tuple(str(attempt) for attempt in locks)

    def _pass_over(self) -> None:
        tried = self._attempts.read()
        self._between_calls.update(tried)
        for attempt in tried:
            if attempt.is_breach:
                _log.warning("%s: forbidden attempt between calls: %s", self._name, attempt)

    async def _breaks(self, call: Call) -> bool:
        tried = [
            attempt
            for attempt in self._attempts.read()
            if attempt.holder or attempt not in self._between_calls
        ]
        breaches = [str(attempt) for attempt in tried if attempt.is_breach]
        for attempt in tried:
            if attempt.holder:
                _log.info("%s: took a lock: %s", call.name, attempt.target)
            elif not attempt.is_breach:
                _log.info("%s: harmless attempt failed: %s", call.name, attempt)
        call.evidence = self._kept_locks(call, tried)
        if not breaches:
            return False
        call.evidence = tuple(breaches)
        call.outcome = Outcome.BROKE_CONTRACT
        subject = call.principal.subject
        with anyio.CancelScope(shield=True):
            await self._hold.report.add(call.tool, breaches, call=call.id, subject=subject)
        return True


class _Key(NamedTuple):
    caller: Hashable
    is_open: bool


class ReadonlyProcesses(Generic[C]):
    """The read-only processes of a server. Each is created for its first call; `start` runs it."""

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
        """Run a call in the process of `caller`. `make` connects a new process."""
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
        """End the processes that have been idle for this long."""
        before = time.monotonic() - seconds
        for key, process in list(self._processes.items()):
            if process.connection.used < before and not process.is_busy:
                self._processes.pop(key).connection.end()

    def end_of(self, caller: Hashable) -> None:
        """End the processes of one caller."""
        for key in [key for key in self._processes if key.caller == caller]:
            self._processes.pop(key).connection.end()

    def close(self) -> None:
        """Remove the files of all processes, including those that have not run."""
        for process in self._processes.values():
            process.close()


def is_locked(path: str, *, by: int) -> bool:
    """Return whether a process in the PID namespace of the process `by` holds a lock on a file.

    Return `False` if the file or the process is gone. A lock that belongs to an open file
    (F_OFD_SETLK) always counts, since the kernel does not report its process.
    """
    try:
        inode = str(os.stat(path).st_ino)  # noqa: PTH116 - names of any bytes
        box = _box_of(str(by))
        lines = _LOCKS.read_text().splitlines()
    except (OSError, ValueError):
        return False
    # `1: POSIX  ADVISORY  READ  1234 08:01:5678 0 EOF`. A line with `->` is a waiting process.
    held = [words for words in map(str.split, lines) if "->" not in words]
    holders = {words[4] for words in held if words[5].rpartition(":")[2] == inode}
    return _NO_PROCESS in holders or any(_is_in(holder, box) for holder in holders)


def _is_in(process: str, box: str) -> bool:
    try:
        return _box_of(process) == box
    except OSError:
        return False


def _box_of(process: str) -> str:
    return os.readlink(f"/proc/{process}/ns/pid")  # noqa: PTH115 - a name is wanted, not a path
