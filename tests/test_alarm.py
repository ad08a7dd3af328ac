"""Many timers of one length."""

import asyncio

import pytest

from sayso.alarm import Alarm

pytestmark = pytest.mark.anyio


async def test_it_calls_back_in_order_but_for_what_is_forgotten() -> None:
    alarm, called, done = Alarm(0.02), list[str](), asyncio.Event()
    alarm.call(lambda: called.append("first"))
    forgotten = alarm.call(lambda: called.append("forgotten"))
    alarm.call(lambda: called.append("later"))
    alarm.call(done.set)
    alarm.forget(forgotten)
    alarm.forget(forgotten)
    await done.wait()

    assert called == ["first", "later"]


async def test_it_begins_again_after_it_was_done() -> None:
    alarm, said = Alarm(0.01), list[int]()
    for number in range(3):
        alarm.call(lambda number=number: said.append(number))
        await asyncio.sleep(0.05)

    assert said == [0, 1, 2]


async def test_nothing_is_called_before_its_time() -> None:
    loop, alarm = asyncio.get_running_loop(), Alarm(0.05)
    waits: list[float] = []
    for _ in range(5):
        began = loop.time()
        alarm.call(lambda began=began: waits.append(loop.time() - began))
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)

    assert len(waits) == 5
    assert min(waits) > 0.045


def test_one_of_the_same_length_serves_all() -> None:
    known = Alarm.of(1.0)
    assert known is not None
    assert Alarm.of(1.0, known) is known
    assert Alarm.of(2.0, known) is not known
    assert Alarm.of(None, known) is None
