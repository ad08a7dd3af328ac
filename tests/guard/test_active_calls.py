"""Active calls: their progress, and the end of one that is stopped."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import anyio
import pytest
from tests.guard.world import World, asked, text
from tests.sample_tools import AMY

from sayso.approvals import Answer
from sayso.gateway.cluster_calls import ClusterCalls, Reached
from sayso.gateway.replicas import ReplicaClient
from sayso.guard import Call, Guard

pytestmark = pytest.mark.anyio

WRITE = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
DROP = {"readOnlyHint": False, "destructiveHint": True}


async def begun(world: World, guard: Guard, name: str, **more: Any) -> tuple[Any, str]:
    """A call that hangs at its server: its task and its id."""
    world.hangs = True
    task = asyncio.ensure_future(guard.call(AMY, name, {}, **more))
    with anyio.fail_after(60):
        await world.starts.wait()
    (row, *_) = await world.store.records.newest()
    return task, row.call


async def test_a_stopped_call_is_told_so_and_its_outcome_is_unknown(world: World) -> None:
    guard, name = world.guard(attempts=3), world.add("run_it", WRITE)
    task, call = await begun(world, guard, name)

    assert guard.active_calls.stop(call, "bob") is True
    assert guard.active_calls.stop(call, "ann") is False
    answer = await task

    assert "A person stopped this call" in text(answer)
    assert answer["_meta"]["io.sayso/outcome"] == "outcome_unknown"
    assert await world.log() == [("attempt", None), ("outcome", "outcome_unknown")]
    assert (await world.line("outcome"))["stopped_by"] == "bob"
    assert guard.active_calls.find(call) is None
    assert guard.active_calls.stop(call, "bob") is False


async def test_a_call_that_was_not_sent_yet_did_not_run(world: World) -> None:
    guard, name = world.guard(), world.add("run_it", WRITE)
    world.is_sent = False
    task, call = await begun(world, guard, name)

    guard.active_calls.stop(call, "bob")

    assert text(await task).startswith("Nothing was run")
    assert await world.log() == [("attempt", None), ("outcome", "cancelled")]


async def test_another_cancellation_goes_on(world: World) -> None:
    guard, name = world.guard(), world.add("run_it", WRITE)
    task, call = await begun(world, guard, name)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert guard.active_calls.find(call) is None
    assert "stopped_by" not in json.dumps(await world.line("outcome"))


async def test_what_an_approved_call_tells_is_kept_though_its_client_does_not_ask(
    world: World,
) -> None:
    name, told = world.add("drop_it", DROP), list[Any]()

    async def run(call: Call) -> dict[str, Any]:
        await call.progress(3, 10, "half way")
        told.append(guard.active_calls.find(call.id))
        return {"content": []}

    guard = replace(world.guard(patience=10.0), run=run)
    task = asyncio.ensure_future(guard.call(AMY, name, {}))
    with anyio.fail_after(60):
        approval = await asked(guard)
        answer = Answer(is_allowed=True, by="bob", channel="console")
        assert await guard.approvals.answer(approval.number, answer)
        await task

    (run_,) = told
    assert (run_.done, run_.total, run_.text) == (3, 10, "half way")


async def test_a_client_that_asks_how_far_it_is_still_hears_it(world: World) -> None:
    name, heard = world.add("run_it", WRITE), list[Any]()

    async def hear(*told: Any) -> None:
        heard.append(told)

    async def run(call: Call) -> dict[str, Any]:
        await call.progress(1, None, None)
        return {"content": []}

    guard = replace(world.guard(), run=run)
    await guard.call(AMY, name, {}, progress=hear)

    assert heard == [(1, None, None)]


async def test_runs_are_found_and_stopped_for_the_whole_gateway(world: World) -> None:
    guard, name, post = world.guard(), world.add("run_it", WRITE), ReplicaClient()
    runs = ClusterCalls(guard.active_calls, post)
    assert await runs.find("none") is None
    assert await runs.stop("none", by="bob") is False
    task, call = await begun(world, guard, name)

    assert await runs.find(call) == Reached(None, None, None)
    # The same from another process, which sends the same requests.
    assert await post.handlers["run"](call) == [None, None, None]
    assert await post.handlers["run"]("none") is None
    assert await post.handlers["stop"](["none", "bob"]) is None
    assert await post.handlers["stop"]([call, "bob"]) is True
    assert "stopped" in text(await task)
