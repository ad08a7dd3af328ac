"""The processes and threads of a trace that live."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sayso.trace.lines import Line

_MOST: Final = 50_000


@dataclass(frozen=True, slots=True)
class Member:
    """A thread of the trace, and the process that it belongs to."""

    pid: int
    process: int
    parent: int

    @property
    def is_thread(self) -> bool:
        """Whether it is one of several threads of its process, and not the first."""
        return self.pid != self.process


@dataclass(slots=True)
class ProcessTree:
    """The living, by the numbers of the tracer's side.

    A new thread is known by its first line. What started it is asked of the kernel (`ask`, which
    gives the process of a living thread), and where it is gone, taken to be the oldest start that
    no new thread has claimed.
    """

    ask: Callable[[int], int | None]
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    _starts: deque[tuple[int, bool]] = field(
        default_factory=lambda: deque[tuple[int, bool]](maxlen=1000)
    )

    def meet(self, pid: int) -> Member | None:
        """Take in that a thread exists; the member, where it is new."""
        if pid in self.members:
            return None
        parent = 0
        is_thread = False
        if self._starts:
            parent, is_thread = self._starts.popleft()
        process = self.ask(pid)
        if process is None:
            process = pid
            if is_thread and parent:
                process = self.process_of(parent)
        member = Member(pid, process, parent)
        if len(self.members) < _MOST:
            self.members[pid] = member
        return member

    def process_of(self, pid: int) -> int:
        """The process of a thread; a thread that nobody met is its own."""
        member = self.members.get(pid)
        if member is None:
            return pid
        return member.process

    def note_start(self, line: Line) -> None:
        """A thread or process is about to be started."""
        self._starts.append((line.pid, "CLONE_THREAD" in line.text))

    def leave(self, pid: int) -> None:
        self.members.pop(pid, None)
