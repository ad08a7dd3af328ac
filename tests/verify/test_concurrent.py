"""Work on several items at once, and the calls that serve several controls."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import pytest

from sayso.errors import UsageError
from sayso.trace import Effect, Kind, Observer
from sayso.verify.call import Case, MadeCall, Outcome
from sayso.verify.concurrent import do_all
from sayso.verify.control import FirstCalls
from sayso.verify.observed_server import ObservedServer
from sayso.verify.options import CALLS, QUICK_CALLS, ObjectTarget, Terms

pytestmark = pytest.mark.anyio


async def test_results_are_in_order_whichever_ends_first() -> None:
    async def work(seconds: float) -> float:
        await anyio.sleep(seconds)
        return seconds

    assert await do_all(work, [0.02, 0.0, 0.01]) == [0.02, 0.0, 0.01]


async def test_an_error_ends_the_others_and_is_raised_itself() -> None:
    ended: list[str] = []

    async def work(name: str) -> None:
        if name == "wrong":
            raise UsageError("this is wrong")
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(name)

    with pytest.raises(UsageError, match="this is wrong"):
        await do_all(work, ["one", "wrong", "other"])
    assert sorted(ended) == ["one", "other"]


async def test_the_first_call_of_another_tool_is_made_once_for_all_controls() -> None:
    starts = 0
    seen = Effect(Kind.CREATE, "/kept/store.db", Observer.FILES)

    class Server:
        async def idle(self) -> None: ...

        async def call(self, name: str, case: Case) -> MadeCall:
            return MadeCall(1, name, case, Outcome.SUCCESS, effects=(seen,))

        async def linger(self, made: MadeCall) -> MadeCall:
            return made

    @asynccontextmanager
    async def start() -> AsyncGenerator[ObservedServer]:
        nonlocal starts
        starts += 1
        yield cast("Any", Server())

    calls = FirstCalls(start)
    for _ in range(2):
        assert await calls.of(("list_books", Case({"shelf": 1}))) == (seen,)
    assert starts == 1
    assert await calls.of(("list_books", Case({"shelf": 2}))) == (seen,)
    assert starts == 2


def test_a_quick_run_makes_fewer_calls_unless_their_number_is_given() -> None:
    target = ObjectTarget("s", object())
    assert Terms(target=target).budget == CALLS
    assert Terms(target=target, is_quick=True).budget == QUICK_CALLS < CALLS
    assert Terms(target=target, is_quick=True, calls=9).budget == 9
