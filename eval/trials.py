"""What there is to measure: each suite of the benchmark, the demo, and servers of other people."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from eval import dojo
from eval.measure import Trial

DOJO: Final = tuple(f"dojo-{name}" for name in dojo.SUITES)
TRIALS: Final = (*DOJO,)


@asynccontextmanager
async def open_trial(name: str, seed: int, *, is_all: bool = False) -> AsyncGenerator[Trial]:
    """A trial by its name."""
    world = dojo.open_suite(name.removeprefix("dojo-"))
    yield Trial(world, dojo.scripts(world, seed, is_all=is_all), dojo.declared(world))
