"""Which process a writer lives in, and whether that process is still there."""

import os
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Self

from sayso.store import WriterRow

PROC = Path("/proc")
_PID: Final = re.compile(r"[0-9]{1,9}")
_ENDED: Final = ("Z", "X")


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: the machine it is on since its last start, its number there, when it began.

    Where these cannot be known, outside Linux, `machine` is empty.
    """

    machine: str
    pid: int
    began: str

    @classmethod
    def this(cls) -> Self:
        """This process."""
        pid = os.getpid()
        began = _began(pid)
        return cls(_machine() if began else "", pid, began)

    @classmethod
    def read(cls, text: str) -> Self:
        """As the store kept it."""
        machine, _, rest = text.partition(":")
        pid, _, began = rest.partition(":")
        return cls(machine, int(pid) if _PID.fullmatch(pid) else 0, began)

    def __str__(self) -> str:
        return f"{self.machine}:{self.pid}:{self.began}"

    def is_gone(self, here: Self) -> bool | None:
        """Whether the process has ended; `None` where that cannot be seen from `here`."""
        if not here.machine or self.machine != here.machine:
            return None
        return _began(self.pid) != self.began


def is_dead(row: WriterRow, here: Owner) -> bool:
    """A writer is dead when its process has ended, or, where nobody sees that, by its lease."""
    is_gone = Owner.read(row.owner).is_gone(here)
    return row.is_expired if is_gone is None else is_gone


def _machine() -> str:
    """Changes when the machine starts again, and differs between containers on it."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text()
        return sha256((boot + str((PROC / "self/ns/pid").readlink())).encode()).hexdigest()[:16]
    except OSError:
        return ""


def _began(pid: int) -> str:
    """When a process began, in clock ticks since the machine did (proc(5), field 22).

    One that has ended, and that its parent has not asked about yet, is not there any more.
    """
    try:
        state, *rest = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        return "" if state in _ENDED else rest[18]
    except (OSError, ValueError, IndexError):
        return ""
