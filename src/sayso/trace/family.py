"""Which processes and threads are traced, which call each came with, and which of them live."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sayso.trace.arguments import Call
from sayso.trace.line import Line

_MOST: Final = 50_000


@dataclass(frozen=True, slots=True)
class Member:
    """A thread of the trace. `process` is its process, `call` the one that it came with."""

    pid: int
    process: int
    parent: int
    call: int

    @property
    def is_thread(self) -> bool:
        """Whether it is one of several threads of its process, and not the first."""
        return self.pid != self.process


@dataclass(slots=True)
class Family:
    """The living, by the numbers of the tracer's side.

    A new thread is known by its first line. What started it is asked of the kernel (`ask`, which
    gives the process of a living thread), and where it is gone, taken to be the oldest start that
    no new thread has claimed.
    """

    ask: Callable[[int], int | None]
    call: int = 0
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    _starts: deque[tuple[int, bool]] = field(
        default_factory=lambda: deque[tuple[int, bool]](maxlen=1000)
    )

    def meet(self, pid: int) -> Member | None:
        """Take in that a thread exists; the member, where it is new."""
        if pid in self.members:
            return None
        parent, is_thread = self._starts.popleft() if self._starts else (0, False)
        process = self.ask(pid)
        if process is None:
            process = self.process_of(parent) if is_thread and parent else pid
        member = Member(pid, process, parent, self.call)
        if len(self.members) < _MOST:
            self.members[pid] = member
        return member

    def process_of(self, pid: int) -> int:
        """The process of a thread; a thread that nobody met is its own."""
        member = self.members.get(pid)
        return pid if member is None else member.process

    def note_start(self, line: Line | Call) -> None:
        """A thread or process is about to be started."""
        text = line.text if isinstance(line, Line) else " ".join(line.arguments)
        self._starts.append((line.pid, "CLONE_THREAD" in text))

    def leave(self, pid: int) -> None:
        """A thread has ended."""
        self.members.pop(pid, None)

    def name_new(self, call: int) -> None:
        """Whoever came since the last call came with this one."""
        for pid, member in list(self.members.items()):
            if member.call < 0:
                self.members[pid] = Member(pid, member.process, member.parent, call)

    def outliving(self) -> tuple[Member, ...]:
        """Who came with a call and is there still: daemons, helpers, late threads."""
        return tuple(process for process in self.members.values() if process.call > 0)
