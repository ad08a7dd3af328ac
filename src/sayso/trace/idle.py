"""Idleness of the traced processes: asleep, without processor time."""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_ASLEEP: Final = frozenset("SIZXT")
"""States of a sleeping thread (proc(5)); a tracer's stop is `t`, and short."""


@dataclass(frozen=True, slots=True)
class Activity:
    """Processor `ticks` so far of the processes `pids`, and whether all threads sleep."""

    pids: frozenset[int]
    ticks: int
    is_asleep: bool


def process_of(pid: int) -> int | None:
    """Return the process of a living thread, or `None`."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = (_PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
        return int(text.split("Tgid:", 1)[1].split(maxsplit=1)[0])
    return None


def descendants(root: int) -> frozenset[int]:
    """Return a process and its living descendants."""
    parents: dict[int, int] = {}
    for name in os.listdir(_PROC):  # noqa: PTH208 - names are all that is needed of some hundred
        if name.isdecimal() and (fields := _fields(_PROC / name / "stat")):
            parents[int(name)] = int(fields[1])
    found = {root} & parents.keys()
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return frozenset(found)


def measure_activity(pids: Iterable[int]) -> Activity:
    """Measure the activity of processes; ended ones count as asleep."""
    ticks = 0
    is_asleep = True
    living = set[int]()
    for pid in pids:
        for thread in _threads(pid):
            fields = _fields(thread / "stat")
            if fields:
                living.add(pid)
                ticks += int(fields[11]) + int(fields[12])
                is_asleep = is_asleep and fields[0] in _ASLEEP
    return Activity(frozenset(living), ticks, is_asleep)


def _threads(pid: int) -> list[Path]:
    try:
        return list((_PROC / str(pid) / "task").iterdir())
    except OSError:
        return []


def _fields(path: Path) -> list[str]:
    """Return the fields from the state on; the name before it may hold spaces and parentheses."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
    except OSError:
        return []
