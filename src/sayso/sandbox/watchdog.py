"""What a box may use in all: one that goes beyond is ended, before the machine is in need.

The kernel holds each process to limits, but not all of them together, and root to no number of
processes at all.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import anyio

from sayso.sandbox.limits import Limits

_PAUSE: Final = 0.25
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_PROC: Final = Path("/proc")
_LEAST_LEFT: Final = 0.03
"""The share of memory, and of the disk, that is left to the machine."""


async def enforce_limits(folder: Path, limits: Limits, tell: Callable[[str], None]) -> None:
    """Look at the box in `folder` again and again, until cancelled; `tell` why it was ended.

    The box is known by its folder's path in the words of the process that sayso has started.
    """
    free = _free(folder)
    while True:
        await anyio.sleep(_PAUSE)
        root, inside = _processes(f"{folder}/")
        if root and (why := await _overrun(folder, limits, inside, free)):
            tell(f"the server was ended: {why}")
            with contextlib.suppress(ProcessLookupError):
                os.kill(root, signal.SIGKILL)


async def _overrun(folder: Path, limits: Limits, inside: Mapping[int, int], free: int) -> str:
    """Which of the limits a box has gone beyond, or none."""
    if len(inside) > limits.processes:
        return f"more than {limits.processes} processes"
    if sum(inside.values()) > limits.memory_in_all:
        return f"more than {limits.memory_in_all >> 20} MiB of memory in all"
    if _is_short_of_memory():
        return "this machine's memory came to an end"
    # To add up files takes long; what was used since the beginning is known at once.
    if free - _free(folder) > limits.disk:
        used = await anyio.to_thread.run_sync(_used, folder, limits.disk)
        if used > limits.disk:
            return f"more than {limits.disk >> 20} MiB on the disk"
    return ""


def _processes(mark: str) -> tuple[int, dict[int, int]]:
    """The process that starts a box, and the memory in bytes of all that came of it."""
    children: dict[int, list[int]] = {}
    for name in os.listdir(_PROC):  # noqa: PTH208 - names are all that is needed of some hundred
        if name.isdecimal() and (parent := _parent(name)):
            children.setdefault(parent, []).append(int(name))
    roots = [process for process in children.get(os.getpid(), ()) if mark in _words(process)]
    found: dict[int, int] = {}
    waiting = roots[:1]
    while waiting:
        process = waiting.pop()
        found[process] = _memory(process)
        waiting += children.get(process, ())
    return next(iter(roots), 0), found


def _parent(name: str) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = (_PROC / name / "stat").read_text(encoding="utf-8", errors="replace")
        return int(text.rpartition(") ")[2].split()[1])
    return 0


def _words(pid: int) -> str:
    """The words and the variables of a process: after bubblewrap's own, these name the box."""
    with contextlib.suppress(OSError):
        folder = _PROC / str(pid)
        said = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        return os.fsdecode(said)
    return ""


def _memory(pid: int) -> int:
    """What a process holds alone: resident, less what is shared."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = (_PROC / str(pid) / "statm").read_text(encoding="ascii").split()
        return (int(fields[1]) - int(fields[2])) * _PAGE
    return 0


def _is_short_of_memory() -> bool:
    with contextlib.suppress(OSError, ValueError, KeyError):
        lines = (_PROC / "meminfo").read_text(encoding="ascii").splitlines()
        told = {name: int(rest.split()[0]) for name, _, rest in (x.partition(":") for x in lines)}
        return told["MemAvailable"] < told["MemTotal"] * _LEAST_LEFT
    return False


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _used(folder: Path, most: int) -> int:
    """The bytes that a folder takes on the disk; counting ends once they are too many."""
    used = 0
    waiting = [str(folder)]
    while waiting and used <= most:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                used += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return used
