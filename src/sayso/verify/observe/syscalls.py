"""The observer of system calls, which reads the growing trace."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

import anyio

from sayso.sandbox import Layer, Place, Role
from sayso.trace import (
    Activity,
    Call,
    CallReader,
    Effect,
    Line,
    LineKind,
    Memory,
    ProcessTree,
    Tail,
    Window,
    descendants,
    effects_of,
    learn,
    measure_activity,
    process_of,
    quoted_path,
    read_line,
)
from sayso.verify.observe import file_check

_POLL: Final = 0.005
_PRIVATE: Final = frozenset({Role.HOME, Role.TEMPORARY, Role.OWN})
_START: Final = re.compile(r"\d (?:clone3?|v?fork)\((?!.* = -1 )")
_CHANGING: Final = re.compile(r"O_(?:CREAT|TRUNC|WRONLY|RDWR)|<unfinished ")


def _is_only_reading(text: str) -> bool:
    """Return whether a line is a frequent harmless call, without parsing it."""
    if " mmap(" in text:
        return "MAP_SHARED" not in text
    return " openat(" in text and _CHANGING.search(text) is None


class SyscallWatcher:
    """A `Watcher` of the file `trace` that strace writes. The file need not exist yet.

    If the first program is `bwrap`, calls before the next program set up the sandbox and are
    skipped, also after a restart. Effects between an `end` and the next `begin` are returned by the
    next `end` if it has the same call number; otherwise they are dropped.
    """

    def __init__(self, trace: Path, places: Sequence[Place] = ()) -> None:
        self.layer = Layer("syscalls", is_active=True, detail="strace with seccomp-bpf")
        self._places = places
        self._tail = Tail(trace)
        self._reader = CallReader()
        self._tree = ProcessTree(process_of)
        self._memory = Memory(
            self._tree.process_of, [place.inside for place in places if place.role in _PRIVATE]
        )
        self._window = Window()
        self._gap = Window()
        self._mapped: file_check.Digests = {}
        self._root = 0
        self._last = 0
        self._setting_up = set[int]()
        self._is_started = False

    async def begin(self) -> None:
        """Start a call's window. Effects since the last `end` do not belong to the call."""
        self._read()
        self._gap, self._window = self._window, Window()
        self._mapped = file_check.digest_mapped(self._memory.mapped.values(), self._places)

    async def end(self, call: int) -> Sequence[Effect]:
        """Return the effects since `begin`, each once, in the order in which they were seen."""
        self._read()
        late = file_check.settle(self._gap.timed(), self._places)
        found = file_check.settle(self._window.timed(), self._places)
        self._gap, self._window = Window(), Window()
        now = file_check.digest_mapped(self._mapped, self._places)
        found += file_check.changed(self._mapped, now)
        self._mapped = now
        if call == self._last:
            found = late + found
        self._last = call
        return [replace(effect, call=call) for effect in found]

    async def wait_idle(self, *, quiet: float, most: float) -> bool:
        """Wait until the trace and the threads showed no activity for `quiet` seconds.

        Return whether that happened within `most` seconds. A program that sleeps until a timer ends
        looks idle, unless `quiet` is longer than its sleep.
        """
        deadline = anyio.current_time() + most
        last: tuple[int, Activity] | None = None
        since = anyio.current_time()
        while True:
            is_new = last is None or last[0] != self._tail.size()
            pids = self._pids() if is_new or last is None else last[1].pids
            size = self._tail.size()
            activity = measure_activity(pids)
            now = anyio.current_time()
            if (size, activity) != last or not activity.is_asleep:
                last = (size, activity)
                since = now
            elif now - since >= quiet:
                return True
            if now >= deadline:
                return False
            await anyio.sleep(min(_POLL, max(deadline - now, 0)))

    def _pids(self) -> frozenset[int]:
        self._read()
        if not self._root:
            return frozenset()
        known = {self._tree.process_of(pid) for pid in self._tree.members}
        return descendants(self._root) | known

    def _read(self) -> None:
        for text in self._tail.lines():
            self._take(text)

    def _take(self, text: str) -> None:
        if self._is_started and _is_only_reading(text) and self._is_known(text):
            return
        if _START.search(text) and (line := read_line(text)):
            self._tree.note_start(line)
        match self._reader.take(text):
            case Call() as call:
                self._add_thread(call.pid)
                self._understand(call)
            case Line(form=LineKind.EXIT, pid=pid):
                self._tree.remove(pid)
            case _:
                return

    def _is_known(self, text: str) -> bool:
        pid = text.partition(" ")[0]
        return (
            pid.isdecimal()
            and int(pid) in self._tree.members
            and str(self._tree.process_of(int(pid))) in self._memory.folders
        )

    def _add_thread(self, pid: int) -> None:
        if self._root not in self._tree.members:
            # This is the first thread of the trace, or of a restarted server.
            self._root = pid
            self._is_started = False
        member = self._tree.add(pid)
        if member is not None and not member.is_thread and member.parent:
            self._memory.inherit(pid, member.parent)

    def _understand(self, call: Call) -> None:
        if not self._is_started:
            self._set_up(call)
            return
        if call.pid not in self._setting_up:
            self._window.add(effects_of(call, self._memory), call.time)
        learn(call, self._memory)

    def _set_up(self, call: Call) -> None:
        self._setting_up.add(call.pid)
        self._memory.learn(call)
        if call.name != "execve" or call.result != 0:
            return
        if PurePosixPath(quoted_path(call.argument(0)) or "").name != "bwrap":
            self._is_started = True
            self._setting_up.discard(call.pid)
