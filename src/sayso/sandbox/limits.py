"""Resource limits of a contained server: per process by the kernel, in total by a watchdog.

The kernel does not limit the processes of a box together, and never limits root's process count.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from sayso.trace import process_parents

_PAUSE: Final = 0.25
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_PROC: Final = Path("/proc")
_LEAST_LEFT: Final = 0.03
"""The share of the machine's memory that must stay available, or the box is killed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a box. Bytes, except `seconds` of processor time and `processes`.

    `seconds` and `memory` apply to each process, `file` to each file; `processes`, `memory_in_all`
    and `disk` apply to the whole box. Callers limit the wall-clock time of a call themselves.
    """

    seconds: int = 600
    memory: int = 4 * 1024**3
    processes: int = 512
    file: int = 1024**3
    memory_in_all: int = 8 * 1024**3
    disk: int = 6 * 1024**3


def limit_words(limits: Limits, *, program: str) -> tuple[str, ...]:
    """Return the `prlimit` prefix that limits a command and all that it starts.

    Memory is RLIMIT_DATA: node reserves far more address space (RLIMIT_AS) than it uses.
    """
    return (
        program,
        f"--cpu={limits.seconds}",
        f"--data={limits.memory}",
        f"--nproc={limits.processes}",
        f"--fsize={limits.file}",
        "--core=0",
        "--",
    )


def describe_limits(limits: Limits) -> str:
    """Describe the limits per process and in total."""
    return (
        f"per process {limits.seconds} s of processor time, {limits.memory >> 20} MiB of memory, "
        f"files up to {limits.file >> 20} MiB; in total {limits.processes} processes, "
        f"{limits.memory_in_all >> 20} MiB of memory, {limits.disk >> 20} MiB on the disk"
    )


async def enforce_limits(folder: Path, limits: Limits, report: Callable[[str], None]) -> None:
    """Check the box in `folder` until cancelled; if it exceeds a limit, kill it and `report` why.

    The box's process is found by the folder's path in its arguments or its environment.
    """
    free = _free(folder)
    while True:
        await anyio.sleep(_PAUSE)
        root, inside = _processes(f"{folder}/")
        if root and (why := await _overrun(folder, limits, inside, free)):
            report(f"the server was ended: {why}")
            with contextlib.suppress(ProcessLookupError):
                os.kill(root, signal.SIGKILL)


async def _overrun(folder: Path, limits: Limits, inside: Mapping[int, int], free: int) -> str:
    if len(inside) > limits.processes:
        return f"more than {limits.processes} processes"
    if sum(inside.values()) > limits.memory_in_all:
        return f"more than {limits.memory_in_all >> 20} MiB of memory in all"
    if _is_short_of_memory():
        return "this machine is almost out of memory"
    # Adding up files is slow; the change of free space is known at once.
    if free - _free(folder) > limits.disk:
        used = await anyio.to_thread.run_sync(_used, folder, limits.disk)
        if used > limits.disk:
            return f"more than {limits.disk >> 20} MiB on the disk"
    return ""


def _processes(folder_path: str) -> tuple[int, dict[int, int]]:
    """Return the process that starts a box, and the memory in bytes of each of its descendants."""
    children: dict[int, list[int]] = {}
    for process, parent in process_parents().items():
        children.setdefault(parent, []).append(process)
    roots = [process for process in children.get(os.getpid(), ()) if folder_path in _words(process)]
    memory: dict[int, int] = {}
    waiting = roots[:1]
    while waiting:
        process = waiting.pop()
        memory[process] = _memory(process)
        waiting += children.get(process, ())
    return next(iter(roots), 0), memory


def _words(pid: int) -> str:
    with contextlib.suppress(OSError):
        folder = _PROC / str(pid)
        return os.fsdecode((folder / "cmdline").read_bytes() + (folder / "environ").read_bytes())
    return ""


def _memory(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = (_PROC / str(pid) / "statm").read_text(encoding="ascii").split()
        return (int(fields[1]) - int(fields[2])) * _PAGE
    return 0


def _is_short_of_memory() -> bool:
    with contextlib.suppress(OSError, ValueError, KeyError):
        lines = (_PROC / "meminfo").read_text(encoding="ascii").splitlines()
        sizes = {name: int(rest.split()[0]) for name, _, rest in (x.partition(":") for x in lines)}
        return sizes["MemAvailable"] < sizes["MemTotal"] * _LEAST_LEFT
    return False


def _free(folder: Path) -> int:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def _used(folder: Path, limit: int) -> int:
    used = 0
    waiting = [str(folder)]
    while waiting and used <= limit:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                used += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return used
