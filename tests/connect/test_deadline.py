"""A limit ends what takes too long, and only that."""

import asyncio

import pytest

from sayso.alarm import Alarm
from sayso.connect.request_listener import Deadline

pytestmark = pytest.mark.anyio

LONG = 30.0


async def test_what_takes_too_long_is_cancelled_and_the_task_goes_on() -> None:
    with pytest.raises(TimeoutError), Deadline(Alarm(0.01)):
        await asyncio.sleep(LONG)

    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_what_is_over_in_time_is_left_alone() -> None:
    alarm = Alarm(0.01)
    with Deadline(alarm):
        await asyncio.sleep(0)
    await asyncio.sleep(0.05)


async def test_without_an_alarm_nothing_ends() -> None:
    with Deadline(None) as limit:
        limit.stop()
        limit.go_on()
        await asyncio.sleep(0)

    assert not limit.is_over


async def test_an_inner_limit_is_not_taken_for_the_outer_one() -> None:
    alarm = Alarm(LONG)
    with Deadline(alarm) as outer, pytest.raises(TimeoutError), Deadline(Alarm(0.01)):
        await asyncio.sleep(LONG)

    assert not outer.is_over


async def test_whoever_cancels_at_the_same_time_has_his_way() -> None:
    async def work() -> None:
        with Deadline(Alarm(0.01)) as limit:
            try:
                await asyncio.sleep(LONG)
            finally:
                assert limit.is_over
                task.cancel()
                await asyncio.sleep(0)

    task = asyncio.create_task(work())
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_of_its_own_goes_through_a_limit_that_is_over() -> None:
    async def fail() -> None:
        with Deadline(Alarm(0.01)):
            try:
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                raise KeyError from None

    with pytest.raises(KeyError):
        await fail()


async def test_a_limit_that_is_over_does_not_begin_again() -> None:
    async def go_on() -> None:
        with Deadline(Alarm(0.01)) as limit:
            try:
                await asyncio.sleep(LONG)
            finally:
                limit.go_on()

    with pytest.raises(TimeoutError):
        await go_on()
