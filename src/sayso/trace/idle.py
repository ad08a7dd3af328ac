"""A measurement of whether traced processes are idle: all threads asleep, no processor time.

This reads some hundred files several times a second, which `pathlib` makes four times as slow.
"""
# ruff: noqa: PTH123, PTH208

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = "/proc"
_ASLEEP: Final = frozenset("SIZXT")
"""States of a sleeping thread (proc(5)). State `t`, a short stop by strace, is not one of them."""


@dataclass(frozen=True, slots=True)
class Activity:
    """The activity of the processes `pids`: clock ticks used so far; whether all threads sleep."""

    pids: frozenset[int]
    ticks: int
    is_asleep: bool


def process_of(pid: int) -> int | None:
    """Return the process id of a living thread, or `None` if the thread has ended."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path(f"{_PROC}/{pid}/status").read_text(encoding="utf-8", errors="replace")
        return int(text.split("Tgid:", 1)[1].split(maxsplit=1)[0])
    return None


def process_parents() -> dict[int, int]:
    """Return the parent of each process of this machine."""
    parents: dict[int, int] = {}
    for name in os.listdir(_PROC):
        if name.isdecimal() and (fields := _fields(f"{_PROC}/{name}/stat")):
            parents[int(name)] = int(fields[1])
    return parents


def descendants(root: int) -> frozenset[int]:
    """Return a process and its living descendants."""
    parents = process_parents()
    family = {root} & parents.keys()
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return frozenset(family)


def measure_activity(pids: Iterable[int]) -> Activity:
    """Return the activity of these processes; ended processes count as asleep."""
    ticks = 0
    is_asleep = True
    living = set[int]()
    for pid in pids:
        for thread in _threads(pid):
            fields = _fields(f"{thread}/stat")
            if fields:
                living.add(pid)
                ticks += int(fields[11]) + int(fields[12])
                is_asleep = is_asleep and fields[0] in _ASLEEP
    return Activity(frozenset(living), ticks, is_asleep)


def _threads(pid: int) -> list[str]:
    folder = f"{_PROC}/{pid}/task"
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder)]
    except OSError:
        return []


def _fields(path: str) -> list[str]:
    """Return the fields after the process's name, which may contain spaces and parentheses."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(") ")[2].split()
    except OSError:
        return []
