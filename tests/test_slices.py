"""Long loops let others run between their slices."""

import asyncio
import time

import pytest

from sayso.slices import SLICE_SECONDS, in_slices, rest_since

pytestmark = pytest.mark.anyio


def slowly(number: int) -> int:
    until = time.perf_counter() + SLICE_SECONDS
    while time.perf_counter() < until:
        pass
    return number * 2


async def test_others_run_between_the_slices_of_a_long_loop() -> None:
    turns = 0
    is_over = False

    async def count() -> None:
        nonlocal turns
        while not is_over:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    assert await in_slices(range(20), slowly) == [number * 2 for number in range(20)]
    is_over = True
    await counting
    assert turns >= 20


async def test_a_short_loop_has_no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "perf_counter", lambda: 1.0)
    steps = in_slices(range(3), str)
    with pytest.raises(StopIteration) as stop:
        steps.send(None)
    assert stop.value.value == ["0", "1", "2"]


async def test_work_of_less_than_a_slice_needs_no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "perf_counter", lambda: 1.0)
    step = rest_since(1.0 - SLICE_SECONDS / 2)
    with pytest.raises(StopIteration):
        step.send(None)


async def test_tasks_that_held_the_loop_rest_one_after_another() -> None:
    ended: list[float] = []

    async def rest() -> None:
        await rest_since(time.perf_counter() - 0.02)
        ended.append(time.perf_counter())

    begun = time.perf_counter()
    await asyncio.gather(*(rest() for _ in range(5)))
    assert ended[-1] - begun >= 5 * 0.02
