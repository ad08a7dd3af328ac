"""Trials side by side, each in a process of its own."""

import logging
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Final

import anyio

from eval.measure import Row, measure
from eval.trials import open_trial

PROCESSES: Final = 2


def run(names: Sequence[str], seed: int, *, is_all: bool) -> list[Row]:
    """The rows of these trials, in their order."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, mp_context=spawn) as pool:
        jobs = [pool.submit(run_one, name, seed, is_all=is_all) for name in names]
        return [row for job in jobs for row in job.result()]


def run_one(name: str, seed: int, *, is_all: bool) -> list[Row]:
    """The rows of one trial."""
    logging.disable(logging.WARNING)  # the SDK's client warns of each call that is not listed

    async def measured() -> list[Row]:
        async with open_trial(name, seed, is_all=is_all) as trial:
            return await measure(trial)

    return anyio.run(measured)
