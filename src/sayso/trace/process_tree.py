"""The living processes and threads of a trace."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sayso.trace.lines import Line

_MOST: Final = 50_000


@dataclass(frozen=True, slots=True)
class Member:
    """A thread of the trace and its process."""

    pid: int
    process: int
    parent: int

    @property
    def is_thread(self) -> bool:
        """Return whether it is not the first thread of its process."""
        return self.pid != self.process


@dataclass(slots=True)
class ProcessTree:
    """Living processes and threads, numbered as outside the box.

    A new thread appears with its first line. `find_process` asks the kernel for the process of a
    living thread. If the thread is gone, its starter is the oldest start that no thread has
    claimed.
    """

    find_process: Callable[[int], int | None]
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    _starts: deque[tuple[int, bool]] = field(
        default_factory=lambda: deque[tuple[int, bool]](maxlen=1000)
    )

    def add(self, pid: int) -> Member | None:
        """Add a thread; return it if it is new."""
        if pid in self.members:
            return None
        parent = 0
        is_thread = False
        if self._starts:
            parent, is_thread = self._starts.popleft()
        process = self.find_process(pid)
        if process is None:
            process = pid
            if is_thread and parent:
                process = self.process_of(parent)
        member = Member(pid, process, parent)
        if len(self.members) < _MOST:
            self.members[pid] = member
        return member

    def process_of(self, pid: int) -> int:
        """Return the process of a thread; an unknown thread is its own."""
        member = self.members.get(pid)
        return pid if member is None else member.process

    def note_start(self, line: Line) -> None:
        """Note that a thread or process is about to be started."""
        self._starts.append((line.pid, "CLONE_THREAD" in line.text))

    def remove(self, pid: int) -> None:
        self.members.pop(pid, None)
