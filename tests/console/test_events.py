"""The stream on which open pages hear that something has changed."""

import anyio
import pytest
from tests.console.conftest import Bench

from sayso.approvals import Answer
from sayso.console.events import Beat, Pulse

pytestmark = pytest.mark.anyio


async def test_pages_hear_of_questions_and_of_records(bench: Bench) -> None:
    beats = Pulse(bench.gateway.guard).beats(float("inf"))
    with anyio.fail_after(60):
        assert await anext(beats) == Beat(questions=0, records=0)

        await bench.call()
        asked = await anext(beats)
        assert asked is not None
        assert asked.questions == 1
        assert asked.records > 0

        denied = Answer(is_allowed=False, by="console", channel="console")
        await bench.gateway.guard.approvals.answer(1, denied)
        answered = await anext(beats)
        assert answered is not None
        assert answered.questions == 0


async def test_a_stream_ends_with_the_process_and_with_its_session(bench: Bench) -> None:
    pulse = Pulse(bench.gateway.guard)
    with anyio.fail_after(60):
        assert [one async for one in pulse.beats(bench.clock())] == []
        open_one = pulse.beats(float("inf"))
        await anext(open_one)
        bench.gateway.guard.shutdown.begin()
        assert [one async for one in open_one] == []


async def test_nobody_hears_anything_without_a_session(bench: Bench) -> None:
    async with bench.visitor() as browser:
        assert (await browser.get("/console/events")).status_code == 401
