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
        """Return whether this is a later thread of its process, not the first."""
        return self.pid != self.process


@dataclass(slots=True)
class ProcessTree:
    """The living processes and threads, with their numbers outside the sandbox.

    A new thread is known from its first line in the trace. `find_process` asks the kernel for the
    process of a living thread. For a thread that is gone, the parent is taken from the oldest
    `note_start` that no new thread has used.
    """

    find_process: Callable[[int], int | None]
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    _starts: deque[tuple[int, bool]] = field(
        default_factory=lambda: deque[tuple[int, bool]](maxlen=1000)
    )

    def add(self, pid: int) -> Member | None:
        """Add a thread and return it; return `None` if the thread is known."""
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
        """Return the process id of a thread; for an unknown thread, the thread's own id."""
        member = self.members.get(pid)
        return pid if member is None else member.process

    def note_start(self, line: Line) -> None:
        """Note a line that starts a thread or a process."""
        self._starts.append((line.pid, "CLONE_THREAD" in line.text))

    def remove(self, pid: int) -> None:
        self.members.pop(pid, None)
