"""The lists of a connection: kept as long as their server says, and read again beside the calls."""

import asyncio
from typing import Any

import anyio
import pytest
from tests.connect.serving import until

from sayso.connect.listing import Listed
from sayso.errors import UnreachableError
from sayso.gateway import lists as lists_module
from sayso.gateway.lists import Lists, Shared

pytestmark = pytest.mark.anyio

TOOLS = "tools/list"


class Server:
    """Gives a list with a number in it; each answer waits until it is let go."""

    def __init__(self, seconds: float | None = None, *, is_public: bool = False) -> None:
        self.asked = 0
        self.seconds = seconds
        self.is_public = is_public
        self.error: UnreachableError | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def ask(self, _method: str) -> Listed:
        self.asked += 1
        number = self.asked
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return Listed([number], self.seconds, self.is_public)


class Clock:
    """The time that a test moves."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    moved = Clock()
    monkeypatch.setattr(lists_module, "time", moved)
    return moved


async def test_many_who_want_a_list_ask_for_it_once() -> None:
    server = Server()
    server.gate.clear()
    lists = Lists(server.ask)
    got: list[list[Any]] = []

    async def get() -> None:
        got.append(await lists.get(TOOLS))

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(get)
        await anyio.wait_all_tasks_blocked()
        server.gate.set()
    assert got == [[1]] * 10


async def test_who_leaves_does_not_end_the_asking_for_the_others() -> None:
    server = Server()
    server.gate.clear()
    lists = Lists(server.ask)
    with anyio.move_on_after(0.01):
        await lists.get(TOOLS)
    server.gate.set()
    assert await lists.get(TOOLS) == [1]


@pytest.mark.parametrize(
    ("said", "holds"),
    [(None, 30.0), (0.0, 1.0), (0.5, 1.0), (60.0, 60.0), (1e9, 300.0)],
)
async def test_a_list_holds_as_long_as_its_server_says_within_bounds(
    clock: Clock, said: float | None, holds: float
) -> None:
    server = Server(said)
    lists = Lists(server.ask)
    await lists.get(TOOLS)
    clock.now += holds
    assert await lists.get(TOOLS) == [1]
    await anyio.wait_all_tasks_blocked()
    assert server.asked == 1
    clock.now += 0.1
    assert await lists.get(TOOLS) == [1]
    await until(lambda: server.asked == 2)
    await anyio.wait_all_tasks_blocked()
    assert await lists.get(TOOLS) == [2]


@pytest.mark.parametrize(("took", "rests"), [(0.02, 1.0), (0.5, 10.0), (5.0, 30.0)])
async def test_a_list_that_takes_long_is_asked_for_less_often(
    clock: Clock, took: float, rests: float
) -> None:
    server = Server(0.0)
    lists = Lists(server.ask)
    server.gate.clear()
    asking = asyncio.create_task(lists.get(TOOLS))
    await anyio.wait_all_tasks_blocked()
    clock.now += took
    server.gate.set()
    await asking
    clock.now += rests
    assert lists.current(TOOLS)
    clock.now += 0.1
    assert not lists.current(TOOLS)


async def test_nobody_waits_for_a_list_that_was_known(clock: Clock) -> None:
    server = Server()
    lists = Lists(server.ask)
    await lists.get(TOOLS)
    clock.now += 60
    server.gate.clear()
    for _ in range(5):
        assert await lists.get(TOOLS) == [1]
    await until(lambda: server.asked == 2)
    server.gate.set()
    await until(lambda: lists.current(TOOLS) is not None)
    assert server.asked == 2


async def test_a_list_that_fails_stays_as_it_was_but_not_for_ever(clock: Clock) -> None:
    server = Server()
    lists = Lists(server.ask)
    await lists.get(TOOLS)
    server.error = UnreachableError("gone")
    clock.now += 60
    for _ in range(3):
        assert await lists.get(TOOLS) == [1]
        await anyio.wait_all_tasks_blocked()
    clock.now += 900
    with pytest.raises(UnreachableError):
        await lists.get(TOOLS)


async def test_what_is_to_be_fresh_is_asked_for_after_it_was_wanted() -> None:
    server = Server()
    lists = Lists(server.ask)
    await lists.get(TOOLS)
    assert await lists.read(TOOLS) == [2]
    assert await lists.get(TOOLS) == [2]


async def test_a_list_that_has_changed_is_read_at_once_and_waited_for() -> None:
    server = Server()
    lists = Lists(server.ask)
    lists.change(TOOLS)
    assert server.asked == 0
    await lists.get(TOOLS)
    lists.change(TOOLS)
    assert await lists.get(TOOLS) == [2]


async def test_a_call_waits_only_for_a_moment_for_a_list_that_has_changed() -> None:
    server = Server()
    lists = Lists(server.ask)
    await lists.get(TOOLS)
    server.gate.clear()
    lists.change(TOOLS)
    assert await lists.get(TOOLS, may_be_stale=True) == [1]
    server.gate.set()
    assert await lists.get(TOOLS) == [2]


async def test_a_change_while_the_list_is_read_has_it_read_again() -> None:
    server = Server()
    lists = Lists(server.ask)
    await lists.get(TOOLS)
    server.gate.clear()
    lists.change(TOOLS)
    await until(lambda: server.asked == 2)
    lists.change(TOOLS)
    server.gate.set()
    assert await lists.get(TOOLS) == [3]


async def test_a_server_that_always_changes_its_list_is_not_asked_for_ever() -> None:
    server = Server()
    lists = Lists(server.ask)
    await lists.get(TOOLS)

    async def changing(method: str) -> Listed:
        found = await server.ask(method)
        lists.change(method)
        return found

    lists.request = changing
    lists.change(TOOLS)
    with anyio.fail_after(30):
        assert await lists.get(TOOLS)


async def test_another_connection_knows_nothing_of_the_one_before() -> None:
    server = Server()
    server.gate.clear()
    lists = Lists(server.ask)
    async with anyio.create_task_group() as group:
        group.start_soon(lists.get, TOOLS)
        await until(lambda: server.asked == 1)
        lists.clear()
        server.gate.set()
    assert not lists.current(TOOLS)
    assert await lists.get(TOOLS) == [2]


async def test_what_is_everybodys_is_known_to_everybody_and_the_rest_is_not() -> None:
    shared = Shared()
    public, private = Server(is_public=True), Server()
    one, other = Lists(public.ask, shared), Lists(private.ask, shared)
    assert await one.get(TOOLS) == [1]
    assert await other.get(TOOLS) == [1]
    assert private.asked == 0
    other.change(TOOLS)
    assert await other.get(TOOLS) == [1]
    assert private.asked == 1
    public.is_public = False
    assert await one.read(TOOLS) == [2]
    assert not shared
