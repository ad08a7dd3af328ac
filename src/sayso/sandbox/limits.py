"""How much a contained server may use, and how far the kernel holds it to that."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """`seconds` of processor time and `memory` in bytes, of each process; `processes` in all.

    `file` is the size in bytes that any one file may reach; `memory_in_all` and `disk` are what
    all of it may use together, and `ceiling` ends a box that goes beyond. How long a call
    takes by the clock is the affair of whoever calls.
    """

    seconds: int = 600
    memory: int = 4 * 1024**3
    processes: int = 512
    file: int = 1024**3
    memory_in_all: int = 8 * 1024**3
    disk: int = 6 * 1024**3


def limit_words(limits: Limits, *, program: str) -> tuple[str, ...]:
    """What goes before a command, so that it and all that it starts is held to the limits.

    Memory is what a process may write to (RLIMIT_DATA). Address space (RLIMIT_AS) would be
    simpler, but node reserves far more of that than it ever uses, and would not start.
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
    """What the limits are: of each process, and in all."""
    held = (
        f"of each process {limits.seconds} s of processor time, {limits.memory >> 20} MiB of "
        f"memory, files of {limits.file >> 20} MiB"
    )
    # The kernel never refuses root a process, and who is 1000 inside is root outside.
    return (
        f"{held}; ended beyond {limits.processes} processes, {limits.memory_in_all >> 20} MiB of "
        f"memory and {limits.disk >> 20} MiB on the disk in all"
    )
