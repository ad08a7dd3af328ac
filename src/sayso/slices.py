"""Long work in slices, so that other work of the event loop goes on between them."""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

SLICE_SECONDS: Final = 0.005
"""How long one slice takes, and the pause after it."""

LARGE_BYTES: Final = 64 * 1024
"""Smaller messages take less than a slice, whatever is done with them at once."""

_MAX_REST_SECONDS: Final = 0.25

T = TypeVar("T")
R = TypeVar("R")

_resting: Final["WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]"] = WeakKeyDictionary()


async def in_slices(items: Iterable[T], work: Callable[[T], R]) -> list[R]:
    """Return `work` of each item, done in slices of some milliseconds with pauses as long.

    Work that takes less than one slice has no pause. When cancelled, the rest is not done.
    """
    results: list[R] = []
    begun = time.perf_counter()
    for item in items:
        results.append(work(item))
        if time.perf_counter() - begun > SLICE_SECONDS:
            await rest_since(begun)
            begun = time.perf_counter()
    return results


async def rest_since(begun: float) -> None:
    """Let others run for as long as this task has held the event loop since `begun`.

    `begun` is a time of `time.perf_counter`. There is no pause after less than a slice. Tasks rest
    one after another, so that many of them together leave others half of the time too.
    """
    took = time.perf_counter() - begun
    if took <= SLICE_SECONDS:
        return
    loop = asyncio.get_running_loop()
    lock = _resting.get(loop)
    if lock is None:
        lock = _resting[loop] = asyncio.Lock()
    async with lock:
        # Not only until others have run once: a request takes several turns of the loop.
        await asyncio.sleep(min(took, _MAX_REST_SECONDS))
