"""Long work in slices, so that other tasks of the event loop run in between."""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

SLICE_SECONDS: Final = 0.005
"""How long one slice takes."""

LARGE_BYTES: Final = 64 * 1024
"""Messages up to this size are processed at once, because that takes less than a slice."""

_MAX_REST_SECONDS: Final = 0.25

T = TypeVar("T")
R = TypeVar("R")

_resting: Final["WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]"] = WeakKeyDictionary()


async def in_slices(items: Iterable[T], work: Callable[[T], R]) -> list[R]:
    """Return `work` of each item, in slices of some milliseconds with pauses of equal length.

    Work that takes less than one slice has no pause. Cancelling skips the remaining items.
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
    """Pause for as long as this task has blocked the event loop since `begun`.

    `begun` is a time of `time.perf_counter`. After less than a slice there is no pause. Only one
    task pauses at a time, so that many such tasks together also leave half of the time to others.
    """
    took = time.perf_counter() - begun
    if took <= SLICE_SECONDS:
        return
    loop = asyncio.get_running_loop()
    lock = _resting.get(loop)
    if lock is None:
        lock = _resting[loop] = asyncio.Lock()
    async with lock:
        # Sleep instead of yielding once, because a request takes several turns of the loop.
        await asyncio.sleep(min(took, _MAX_REST_SECONDS))
