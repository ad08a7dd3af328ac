"""A value that is fetched once, by one, and used as long as it may be."""

from dataclasses import dataclass, field

import anyio
import pytest

from sayso.connect.refreshing_cache import COOLDOWN, Fetched, RefreshingCache
from sayso.errors import UnreachableError

pytestmark = pytest.mark.anyio


@dataclass
class Source:
    """Gives 1, 2, 3 …, or fails."""

    fresh: float = 10.0
    usable: float = 60.0
    now: float = 0.0
    fetched: int = 0
    is_down: bool = False
    gate: anyio.Event | None = None
    kept: RefreshingCache[int] = field(init=False)

    def __post_init__(self) -> None:
        self.kept = RefreshingCache(self.fetch, clock=lambda: self.now)

    async def fetch(self) -> Fetched[int]:
        self.fetched += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.is_down:
            raise UnreachableError("down")
        return Fetched(self.fetched, self.fresh, self.usable)


async def test_a_value_is_used_while_it_is_fresh() -> None:
    source = Source()
    for now, expected in ((0.0, 1), (9.0, 1), (10.0, 2), (15.0, 2)):
        source.now = now
        assert await source.kept.get() == expected


async def test_many_at_once_fetch_once() -> None:
    source = Source(gate=anyio.Event())
    found: list[int] = []

    async def one() -> None:
        found.append(await source.kept.get())

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(one)
        await anyio.wait_all_tasks_blocked()
        assert source.gate is not None
        source.gate.set()
    assert found == [1] * 50


async def test_while_one_looks_for_a_newer_value_the_others_use_the_old_one() -> None:
    source = Source()
    await source.kept.get()
    source.now, source.gate = 20.0, anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(source.kept.get)
        await anyio.wait_all_tasks_blocked()
        assert await source.kept.get() == 1
        source.gate.set()
    assert await source.kept.get() == 2


async def test_an_old_value_serves_while_nothing_newer_can_be_had_and_no_longer() -> None:
    source = Source()
    await source.kept.get()
    source.now, source.is_down = 59.0, True
    assert [await source.kept.get() for _ in range(5)] == [1] * 5
    assert source.fetched == 2
    source.now = 61.0
    for _ in range(5):
        with pytest.raises(UnreachableError, match="down"):
            await source.kept.get()
    assert source.fetched == 2
    source.now, source.is_down = 59.0 + COOLDOWN, False
    assert await source.kept.get() == 3


async def test_renewing_fetches_at_most_once_in_a_while() -> None:
    source = Source()
    assert await source.kept.renew() == 1
    assert await source.kept.renew() == 1
    source.now = COOLDOWN
    assert await source.kept.renew() == 2
    source.now, source.is_down = 2 * COOLDOWN, True
    assert await source.kept.renew() == 2


async def test_whoever_waited_for_a_renewal_does_not_renew_again() -> None:
    source = Source(gate=anyio.Event())
    found: list[int] = []

    async def one() -> None:
        found.append(await source.kept.renew())

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(one)
        await anyio.wait_all_tasks_blocked()
        source.now = COOLDOWN * 2
        assert source.gate is not None
        source.gate.set()
    assert found == [1] * 20


async def test_whoever_is_cancelled_leaves_the_next_to_fetch() -> None:
    source = Source(gate=anyio.Event())
    with anyio.move_on_after(0.01):
        await source.kept.get()
    source.gate = None
    assert await source.kept.get() == 2


async def test_what_is_void_when_it_comes_is_no_value() -> None:
    source = Source(fresh=0.0, usable=0.0)
    with pytest.raises(UnreachableError, match="already expired"):
        await source.kept.get()
