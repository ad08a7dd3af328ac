"""The process table of this machine: processes and their ancestors."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

MAX_ANCESTORS: Final = 256
_PROC: Final = Path("/proc")
_PS_SECONDS: Final = 5.0
_PS_COLUMNS: Final = "pid=,ppid=,uid=,tty=,lstart=,comm="
_PS_FIELDS: Final = 9
_NO_TERMINAL: Final = frozenset({"?", "??", "-"})


@dataclass(frozen=True, slots=True)
class Process:
    """A process. Compare `started` only between processes of the same table.

    `terminal` is its controlling terminal: `pts/3` for a pseudo-terminal, any other text for
    another kind, or `None`. `uid` is the real user. `group` is its control group, or empty.
    """

    pid: int
    parent: int
    started: float
    uid: int
    terminal: str | None = None
    name: str = ""
    group: str = ""


class Table(Protocol):
    """A source of processes. `look` returns `None` for a missing or unreadable process.

    `terminal_holders` returns the processes that drive a pseudo-terminal, or `None` if unknown.
    """

    def look(self, pid: int) -> Process | None: ...
    def terminal_holders(self, terminal: str) -> list[int] | None: ...


def open_table() -> Table:
    """Return the table of this machine."""
    return ProcTable() if sys.platform == "linux" else PsTable()


def ancestors(table: Table, pid: int) -> list[Process]:
    """Return a process and its ancestors, the process first, as far up as they can be read.

    The line ends at a parent that started after its child: the real parent ended, and another
    process got its number.
    """
    line: list[Process] = []
    while len(line) < MAX_ANCESTORS:
        process = table.look(pid)
        if process is None or (line and process.started > line[-1].started):
            return line
        line.append(process)
        if process.parent <= 0:
            return line
        pid = process.parent
    return line


@dataclass(frozen=True, slots=True)
class ProcTable:
    """The table of Linux, read from `/proc`."""

    root: Path = _PROC

    def look(self, pid: int) -> Process | None:
        folder = self.root / str(pid)
        try:
            stat = (folder / "stat").read_text(errors="replace")
            status = (folder / "status").read_text(errors="replace")
            group = (folder / "cgroup").read_text(errors="replace")
        except OSError:
            return None
        # The name is between parentheses and may itself contain parentheses.
        head, _, tail = stat.rpartition(")")
        values = tail.split()
        return Process(
            pid=pid,
            parent=int(values[1]),
            started=float(values[19]),
            uid=_real_uid(status),
            terminal=_terminal(int(values[4])),
            name=head.partition("(")[2],
            group=group,
        )

    def terminal_holders(self, terminal: str) -> list[int] | None:
        """Return the processes that have the other end of `pts/N` open."""
        number = terminal.removeprefix("pts/")
        if number == terminal:
            return None
        return [
            int(folder.name)
            for folder in self.root.iterdir()
            if folder.name.isdigit() and _drives(folder, number)
        ]


def _real_uid(status: str) -> int:
    line = next(line for line in status.splitlines() if line.startswith("Uid:"))
    return int(line.split()[1])


def _terminal(device: int) -> str | None:
    if device <= 0:
        return None
    major = os.major(device)
    minor = os.minor(device)
    first_pts = 136
    last_pts = 143
    if first_pts <= major <= last_pts:
        return f"pts/{(major - first_pts) * 256 + minor}"
    return f"tty/{major}:{minor}"


def _drives(folder: Path, number: str) -> bool:
    try:
        entries = list((folder / "fd").iterdir())
    except OSError:
        return False
    for entry in entries:
        with suppress(OSError):
            if entry.readlink().name == "ptmx":
                info = (folder / "fdinfo" / entry.name).read_text()
                if any(line.split() == ["tty-index:", number] for line in info.splitlines()):
                    return True
    return False


@dataclass(frozen=True, slots=True)
class PsTable:
    """The table of another Unix, from `ps`: start times to the second, no control groups.

    The first `look` runs `ps`; later ones use its output.
    """

    rows: dict[int, Process] = field(default_factory=dict[int, Process])

    def look(self, pid: int) -> Process | None:
        if not self.rows:
            self.rows.update(_ps())
        return self.rows.get(pid)

    def terminal_holders(self, terminal: str) -> None:
        """Return `None`, because `ps` does not show these processes."""
        del terminal


def _ps() -> Mapping[int, Process]:
    try:
        done = subprocess.run(  # noqa: S603 - nothing of it comes from outside
            ["/bin/ps", "-axo", _PS_COLUMNS],
            env={"LC_ALL": "C", "PATH": "/bin:/usr/bin"},
            capture_output=True,
            timeout=_PS_SECONDS,
            check=True,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    return read_ps(done.stdout)


def read_ps(text: str) -> Mapping[int, Process]:
    """Read the output of `ps -axo pid=,ppid=,uid=,tty=,lstart=,comm=`, by process number."""
    rows: dict[int, Process] = {}
    for line in text.splitlines():
        values = line.split(None, _PS_FIELDS)
        if len(values) <= _PS_FIELDS:
            continue
        try:
            moment = time.strptime(" ".join(values[4:9]), "%a %b %d %H:%M:%S %Y")
            pid = int(values[0])
            parent = int(values[1])
            uid = int(values[2])
        except ValueError:
            continue
        terminal = None if values[3] in _NO_TERMINAL else values[3]
        rows[pid] = Process(pid, parent, time.mktime(moment), uid, terminal, values[9])
    return rows
