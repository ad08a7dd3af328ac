"""The end of the process: callers get what is known, and the same is recorded."""

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from tests.guard.world import World, asked, text
from tests.sample_tools import AMY

from sayso.guard import Guard

pytestmark = pytest.mark.anyio

WRITE = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
READ = {"readOnlyHint": True, "openWorldHint": False}
DROP = {"readOnlyHint": False, "destructiveHint": True}


async def called(guard: Guard, name: str, then: Callable[[asyncio.Task[Any]], Any]) -> Any:
    """Call as a server's task does, and do something while it runs."""
    task = asyncio.ensure_future(guard.call(AMY, name, {}))
    with anyio.fail_after(60):
        await then(task)
        return await task


@pytest.mark.parametrize(
    ("annotations", "words"), [(WRITE, "may have run or not"), (READ, "reads")]
)
async def test_a_call_that_runs_is_told_that_its_end_is_unknown(
    world: World, annotations: Any, words: str
) -> None:
    guard, name = world.guard(attempts=3), world.add("run_it", annotations)
    world.hangs = True

    async def end(_: asyncio.Task[Any]) -> None:
        await world.starts.wait()
        guard.shutdown.give_up()

    answer = await called(guard, name, end)

    assert words in text(answer)
    assert answer["_meta"]["io.sayso/outcome"] == "outcome_unknown"
    assert await world.log() == [("attempt", None), ("outcome", "outcome_unknown")]
    assert not guard.shutdown.tasks


async def test_a_call_that_was_not_sent_yet_did_not_run(world: World) -> None:
    guard, name = world.guard(), world.add("run_it", WRITE)
    world.hangs, world.is_sent = True, False

    async def end(_: asyncio.Task[Any]) -> None:
        await world.starts.wait()
        guard.shutdown.give_up()

    answer = await called(guard, name, end)

    assert text(answer).startswith("Nothing was run")
    assert await world.log() == [("attempt", None), ("outcome", "cancelled")]


async def test_nothing_is_sent_any_more(world: World) -> None:
    guard, name = world.guard(), world.add("run_it", WRITE)
    guard.shutdown.give_up()

    assert text(await guard.call(AMY, name, {})).startswith("Nothing was run")
    assert not world.starts.is_set()


async def test_a_call_that_waits_is_sent_away_and_its_question_stays(world: World) -> None:
    guard, name = world.guard(patience=60.0), world.add("drop_it", DROP)
    guard.shutdown.on_begin(guard.approvals.release)

    async def end(_: asyncio.Task[Any]) -> None:
        await asked(guard)
        guard.shutdown.begin()

    answer = await called(guard, name, end)

    assert "Make exactly the same call again" in text(answer)
    assert (await asked(guard)).state == "pending"


async def test_other_cancellations_go_on(world: World) -> None:
    guard, name = world.guard(), world.add("run_it", WRITE)
    world.hangs = True

    async def end(task: asyncio.Task[Any]) -> None:
        await world.starts.wait()
        task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await called(guard, name, end)

    assert await world.log() == [("attempt", None), ("outcome", "outcome_unknown")]


async def test_an_end_while_the_outcome_is_written_changes_neither_answer_nor_record(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the server of pages does when its time is up: it cancels tasks, through every shield.
    guard, name = world.guard(), world.add("run_it", WRITE)
    writer: Any = vars(world.store)["_executor"].writer
    add, written = writer.add, list[str]()

    def add_and_end(records: Any, **more: Any) -> Any:
        waited = add(records, **more)
        written.extend(one.event for one in records)
        if written[-1] == "outcome":
            guard.shutdown.give_up()
            task.cancel()
        return waited

    monkeypatch.setattr(writer, "add", add_and_end)
    task = asyncio.ensure_future(guard.call(AMY, name, {}))

    with anyio.fail_after(60):
        answer = await task

    assert written[-1] == "outcome"
    assert text(answer) == "done"
    await world.store.records.append([])
    assert await world.log() == [("attempt", None), ("outcome", "ok")]
