"""Slow work in a thread, with its progress; a cancelled caller stops it at the next report."""

from collections.abc import Callable
from typing import TypeVar

import anyio.from_thread
import anyio.to_thread

T = TypeVar("T")

Progress = Callable[[str, int, int], None]
"""Gets the name of a stage, how much of it is done, and of how much."""


async def run_stage(
    name: str, work: Callable[[Callable[[int, int], None]], T], progress: Progress
) -> T:
    """Run `work` in a thread, with a function to which it reports."""

    def report(done: int, total: int) -> None:
        anyio.from_thread.check_cancelled()
        progress(name, done, total)

    return await anyio.to_thread.run_sync(work, report)
