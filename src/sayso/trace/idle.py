"""Whether the traced processes are at rest: asleep, and without having computed anything."""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_ASLEEP: Final = frozenset("SIZXT")
"""States in which nothing goes on (proc(5)); a tracer's stop is `t`, and soon over."""


@dataclass(frozen=True, slots=True)
class Activity:
    """`ticks` of computing time so far, and whether all threads sleep, of these processes."""

    pids: frozenset[int]
    ticks: int
    is_asleep: bool


def process_of(pid: int) -> int | None:
    """The process of a living thread, or `None`."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = (_PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
        return int(text.split("Tgid:", 1)[1].split(maxsplit=1)[0])
    return None


def descendants(root: int) -> frozenset[int]:
    """The process and all that it has started, and those have, as far as they live."""
    parents: dict[int, int] = {}
    for name in os.listdir(_PROC):  # noqa: PTH208 - names are all that is needed of some hundred
        if name.isdecimal() and (fields := _fields(_PROC / name / "stat")):
            parents[int(name)] = int(fields[1])
    found = {root} & parents.keys()
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return frozenset(found)


def measure_activity(pids: Iterable[int]) -> Activity:
    """How these processes are just now; the dead count as asleep."""
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
    """The fields from the state on; the command before it may hold spaces and parentheses."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
    except OSError:
        return []
