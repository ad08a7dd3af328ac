"""The guard: what runs, what waits, what is written down, and in which order."""

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest
from tests.databases import with_subjects
from tests.guard.world import META, World, text, while_waiting, yes
from tests.sample_tools import AMY, DELETE, READ, WRITE, tool

from sayso.approvals import Answer, Approvals
from sayso.audit import AuditLog
from sayso.connect import Fault, RpcError
from sayso.errors import StoreError, UnreachableError
from sayso.guard import Call, CallRequest, Guard, UnknownToolError
from sayso.intent import Level
from sayso.policy import LOCAL, Effect, Mode, Policy, Principal
from sayso.store import Database, RecordRow, Use

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("annotations", [READ, WRITE])
async def test_reads_and_plain_writes_run_at_once(world: World, annotations: Any) -> None:
    answer = await world.guard().call(AMY, world.add("t", annotations), {"a": 1})
    assert answer["structuredContent"] == {"n": 1}
    assert await world.log() == [("attempt", None), ("outcome", "ok")]


async def test_the_attempt_is_on_disk_before_the_server_sees_the_call(world: World) -> None:
    await world.guard().call(AMY, world.add("t", WRITE), {})
    assert world.at_run == ["attempt"]


async def test_a_destructive_call_waits_and_says_where_to_answer(world: World) -> None:
    guard = world.guard(patience=0.05, console="http://127.0.0.1:1/console/")
    answer = await guard.call(AMY, world.add("customer_delete", DELETE), {"customer_id": 7})
    assert answer["isError"] is True
    assert "approval 1" in text(answer)
    assert "http://127.0.0.1:1/console/" in text(answer)
    assert answer["_meta"]["io.sayso/approval"] == {"number": 1, "state": "pending"}
    assert world.ran == []
    assert await world.log() == [("asked", None), ("outcome", "waiting")]


async def test_an_approval_runs_one_call_once(world: World) -> None:
    guard = world.guard(patience=0.05)
    name = world.add("customer_delete", DELETE)
    await guard.call(AMY, name, {"customer_id": 7})
    await guard.approvals.answer(1, Answer(is_allowed=True, by="console", channel="console"))
    first = await guard.call(AMY, name, {"customer_id": 7})
    second = await guard.call(AMY, name, {"customer_id": 7})
    assert "isError" not in first
    assert second["_meta"]["io.sayso/approval"]["number"] == 2
    assert len(world.ran) == 1
    assert world.ran[0].approval == 1


async def test_of_many_calls_at_once_one_approval_runs_one(world: World) -> None:
    guard = world.guard(patience=3)
    name = world.add("customer_delete", DELETE)
    async with anyio.create_task_group() as group:
        for _ in range(16):
            group.start_soon(guard.call, AMY, name, {"customer_id": 7})
        with anyio.fail_after(30):
            while not await guard.approvals.newest():
                await anyio.sleep(0.005)
        await guard.approvals.answer(1, Answer(is_allowed=True, by="console", channel="console"))
    assert len(world.ran) == 1
    assert len(await guard.approvals.newest()) == 2


@pytest.mark.parametrize(
    ("principal", "arguments"),
    [
        (Principal("bo", "chat"), {"customer_id": 7}),
        (Principal(LOCAL, "another"), {"customer_id": 7}),
        (AMY, {"customer_id": 8}),
        (AMY, {"customer_id": 7, "force": True}),
    ],
)
async def test_an_approval_is_for_nobody_and_nothing_else(
    world: World, principal: Principal, arguments: dict[str, Any]
) -> None:
    guard = world.guard(patience=0.05)
    name = world.add("customer_delete", DELETE)
    await guard.call(AMY, name, {"customer_id": 7})
    await guard.approvals.answer(1, Answer(is_allowed=True, by="console", channel="console"))
    answer = await guard.call(principal, name, arguments)
    assert answer["isError"] is True
    assert world.ran == []


async def test_an_approval_dies_when_the_tool_changes(world: World) -> None:
    guard = world.guard(patience=0.05)
    name = world.add("customer_delete", DELETE)
    await guard.call(AMY, name, {"customer_id": 7})
    await guard.approvals.answer(1, Answer(is_allowed=True, by="console", channel="console"))
    world.add(name, DELETE, description="Deletes the customer and everyone who knows them.")
    assert (await guard.call(AMY, name, {"customer_id": 7}))["isError"] is True
    assert world.ran == []


async def test_a_tool_that_changes_while_the_call_waits_does_not_run(world: World) -> None:
    guard = world.guard(patience=5)
    name = world.add("note_delete", DELETE, description="Deletes one note.")
    answers: list[dict[str, Any]] = []

    async def call() -> None:
        answers.append(await guard.call(AMY, name, {}))

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        with anyio.fail_after(30):
            while not await guard.approvals.newest():
                await anyio.sleep(0.005)
        world.add(name, DELETE, description="Deletes all notes.")
        await guard.approvals.answer(1, Answer(is_allowed=True, by="console", channel="console"))
    assert "has changed since" in text(answers[0])
    assert world.ran == []
    assert (await world.log())[-1] == ("outcome", "tool_changed")
    assert (await guard.approvals.newest())[0].state == "approved"


async def test_two_servers_of_one_name_do_not_share_an_approval(world: World) -> None:
    guard = world.guard(patience=0.05)
    world.tools["t"] = replace(tool("t", DELETE), origin="staging")
    await guard.call(AMY, "t", {})
    await guard.approvals.answer(1, Answer(is_allowed=True, by="console", channel="console"))
    world.tools["t"] = replace(tool("t", DELETE), origin="production")
    assert (await guard.call(AMY, "t", {}))["isError"] is True
    assert world.ran == []


async def test_a_denial_that_holds_is_not_recorded_as_asking_again(world: World) -> None:
    guard = world.guard(patience=0.05)
    name = world.add("customer_delete", DELETE)
    await guard.call(AMY, name, {})
    await guard.approvals.answer(1, Answer(is_allowed=False, by="console", channel="console"))
    await guard.call(AMY, name, {})
    assert [event for event, _ in await world.log()].count("asked") == 1


async def test_a_denial_is_told_and_holds(world: World) -> None:
    guard = world.guard(patience=0.05)
    name = world.add("customer_delete", DELETE)
    await guard.call(AMY, name, {})
    await guard.approvals.answer(1, Answer(is_allowed=False, by="console", channel="console"))
    for _ in range(2):
        answer = await guard.call(AMY, name, {})
        assert "A person denied this call (approval 1)" in text(answer)
    assert (await world.log())[-1] == ("outcome", "denied")


async def test_what_policy_denies_asks_nobody(world: World) -> None:
    guard = world.guard(policy=lambda: Policy(mode=Mode.PLAN))
    answer = await guard.call(AMY, world.add("t", WRITE), {})
    assert "Policy does not allow this call" in text(answer)
    assert await guard.approvals.newest() == []
    assert await world.log() == [("outcome", "denied")]


async def test_a_hidden_tool_is_unknown_in_the_same_words(world: World) -> None:
    guard = world.guard()
    world.add("secret", READ, _meta=META)
    outsider = Principal("bo", scopes=frozenset({"customers.read"}))
    with pytest.raises(UnknownToolError) as hidden:
        await guard.call(outsider, "secret", {})
    with pytest.raises(UnknownToolError) as missing:
        await guard.call(outsider, "absent", {})
    assert str(hidden.value).replace("secret", "absent") == str(missing.value)
    insider = Principal("al", scopes=frozenset({"customers.write"}))
    assert "isError" not in await guard.call(insider, "secret", {})
    assert (await world.log())[:2] == [("refused", "unknown_tool")] * 2


async def test_a_tools_own_error_is_passed_on_and_recorded(world: World) -> None:
    guard = Guard(
        world.find,
        _refuses,
        Approvals.of(world.store),
        AuditLog(world.store.records),
        world.store.claims,
    )
    answer = await guard.call(AMY, world.add("t", READ), {})
    assert answer == {"content": [], "isError": True}
    assert (await world.log())[-1] == ("outcome", "tool_error")


async def _refuses(_: Call) -> dict[str, Any]:
    return {"content": [], "isError": True}


async def test_a_protocol_error_of_the_server_is_passed_on_and_recorded(world: World) -> None:
    world.fails = RpcError(-32602, "Invalid params", {"a": 1})
    with pytest.raises(RpcError, match="Invalid params"):
        await world.guard().call(AMY, world.add("t", WRITE), {})
    assert (await world.log())[-1] == ("outcome", "error")


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.TIMED_OUT])
async def test_a_lost_answer_of_a_write_is_unknown_and_not_sent_again(
    world: World, fault: Fault
) -> None:
    world.fails = RpcError(-32000, "gone", fault=fault)
    answer = await world.guard().call(AMY, world.add("t", WRITE), {})
    assert "may have run or not" in text(answer)
    assert answer["_meta"] == {"io.sayso/outcome": "outcome_unknown"}
    assert await world.log() == [("attempt", None), ("outcome", "outcome_unknown")]


async def test_a_lost_answer_of_a_read_may_be_asked_for_again(world: World) -> None:
    world.fails = RpcError(-32000, "gone", fault=Fault.LOST)
    answer = await world.guard().call(AMY, world.add("t", READ), {})
    assert "it may be made again" in text(answer)


@pytest.mark.parametrize(
    "error",
    [
        RpcError(-32000, "no connection to db.internal:5432", fault=Fault.NOT_SENT),
        UnreachableError("cannot start db.internal", where="demo"),
    ],
)
async def test_a_server_that_cannot_be_reached_ran_nothing_and_names_nothing_inside(
    world: World, error: Exception
) -> None:
    world.fails, world.is_sent = error, False
    answer = await world.guard().call(AMY, world.add("t", WRITE), {})
    assert text(answer) == "Nothing was run: the server “demo” cannot be reached."
    assert (await world.log())[-1] == ("outcome", "unreachable")


@pytest.mark.parametrize(
    ("is_sent", "outcome", "words"),
    [(True, "outcome_unknown", "It may have run."), (False, "failed", "Nothing was run.")],
)
async def test_a_mistake_of_ours_leaks_nothing_and_is_recorded(
    world: World,
    is_sent: bool,  # noqa: FBT001 - a row of the table above
    outcome: str,
    words: str,
) -> None:
    world.fails, world.is_sent = ValueError("password hunter2 in a stack"), is_sent
    answer = await world.guard().call(AMY, world.add("t", WRITE), {})
    assert "hunter2" not in json.dumps(answer)
    assert words in text(answer)
    assert (await world.log())[-1] == ("outcome", outcome)


async def test_cancelled_while_it_runs_a_write_is_unknown(world: World) -> None:
    await _cancelled_while_running(world, WRITE)
    assert await world.log() == [("attempt", None), ("outcome", "outcome_unknown")]


async def test_cancelled_while_it_runs_a_read_may_have_run_too(world: World) -> None:
    """That it only reads is what its server says."""
    await _cancelled_while_running(world, READ)
    assert await world.log() == [("attempt", None), ("outcome", "outcome_unknown")]


async def _cancelled_while_running(world: World, annotations: Any) -> None:
    world.hangs = True
    name = world.add("t", annotations)
    async with anyio.create_task_group() as group:
        group.start_soon(world.guard().call, AMY, name, {})
        with anyio.fail_after(30):
            await world.starts.wait()
        group.cancel_scope.cancel()


async def test_cancelled_while_it_waits_nothing_runs_and_the_question_stays(world: World) -> None:
    guard = world.guard()
    name = world.add("customer_delete", DELETE)
    async with anyio.create_task_group() as group:
        group.start_soon(guard.call, AMY, name, {})
        with anyio.fail_after(30):
            while not await guard.approvals.newest():
                await anyio.sleep(0.005)
        group.cancel_scope.cancel()
    assert await world.log() == [("asked", None), ("outcome", "cancelled")]
    assert [one.state for one in await guard.approvals.newest()] == ["pending"]
    assert world.ran == []


class Broken:
    """A real subject whose disk gives out for one event."""

    def __init__(self, subject: Any, event: str) -> None:
        self._subject, self._event = subject, event

    async def append(self, records: list[RecordRow], **more: Any) -> None:
        if any(row.event == self._event for row in records):
            raise StoreError("the disk is full")
        await self._subject.append(records, **more)

    async def open(self, *words: Any, **more: Any) -> Any:
        if self._event == "asked":
            raise StoreError("the disk is full")
        return await self._subject.open(*words, **more)

    async def begin(self, records: list[RecordRow], use: Use, **more: Any) -> Any:
        if any(row.event == self._event for row in records):
            raise StoreError("the disk is full")
        return await self._subject.begin(records, use, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._subject, name)


def breaking(store: Database, event: str) -> Database:
    """A database whose disk gives out for one event."""
    return with_subjects(
        store, records=Broken(store.records, event), questions=Broken(store.questions, event)
    )


@pytest.mark.parametrize("annotations", [READ, WRITE])
async def test_what_cannot_be_recorded_is_not_run(world: World, annotations: Any) -> None:
    broken = breaking(world.store, "attempt")
    guard = Guard(
        world.find, world.run, Approvals.of(broken), AuditLog(broken.records), broken.claims
    )
    answer = await guard.call(AMY, world.add("t", annotations), {})
    assert "what is not on record does not run" in text(answer)
    assert world.ran == []


async def test_a_question_that_cannot_be_recorded_runs_nothing(world: World) -> None:
    broken = breaking(world.store, "asked")
    guard = Guard(
        world.find, world.run, Approvals.of(broken), AuditLog(broken.records), broken.claims
    )
    answer = await guard.call(AMY, world.add("t", DELETE), {})
    assert "what is not on record does not run" in text(answer)
    assert world.ran == []


async def test_an_outcome_that_cannot_be_recorded_still_reaches_the_caller(world: World) -> None:
    broken = breaking(world.store, "outcome")
    guard = Guard(
        world.find, world.run, Approvals.of(broken), AuditLog(broken.records), broken.claims
    )
    answer = await guard.call(AMY, world.add("t", WRITE), {})
    assert answer["structuredContent"] == {"n": 1}
    assert await world.log() == [("attempt", None)]


async def test_arguments_that_are_no_json_run_nothing(world: World) -> None:
    answer = await world.guard().call(AMY, world.add("t", READ), {"a": float("nan")})
    assert "cannot be sent as JSON" in text(answer)
    assert world.ran == []
    assert await world.log() == [("refused", "bad_arguments")]


async def test_a_tool_of_a_server_that_is_gone_is_not_called_unknown(world: World) -> None:
    guard = Guard(
        _is_gone,
        world.run,
        Approvals.of(world.store),
        AuditLog(world.store.records),
        world.store.claims,
    )
    answer = await guard.call(AMY, "demo__t", {})
    assert text(answer) == "Nothing was run: the server of this tool cannot be reached."
    assert await world.log() == [("refused", "unreachable")]


async def _is_gone(_: str, _principal: object, /, *, is_fresh: bool = False) -> None:  # noqa: ARG001 - a seam
    raise UnreachableError("no connection to db.internal", where="demo")


async def test_progress_is_told_while_a_person_is_waited_for(world: World) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    guard = world.guard(patience=0.05)
    await guard.call(AMY, world.add("customer_delete", DELETE), {}, progress=progress)
    done, total, message = told[0]
    assert 0 <= done <= 0.05
    assert total == 0.05
    assert message is not None
    assert "“Delete customer” waits for a person (approval 1)" in message


def test_a_call_that_nobody_has_looked_at_counts_as_the_worst() -> None:
    call = Call(CallRequest("c", AMY, "t", {}, 0.0))
    assert (call.is_found, call.is_decided) == (False, False)
    assert call.tool.level is Level.DESTRUCTIVE
    assert call.tool_facts.intent is call.tool.resolved
    assert call.decision.effect is Effect.DENY


async def test_a_tool_that_was_just_found_is_not_looked_up_again(world: World) -> None:
    found = world.tools.pop(world.add("t", READ))
    assert "isError" not in await world.guard().call(AMY, "t", {}, tool=found)
    with pytest.raises(UnknownToolError):
        await world.guard().call(AMY, "t", {})


async def test_a_tool_that_was_just_found_is_hidden_all_the_same(world: World) -> None:
    found = world.tools[world.add("t", READ, _meta=META)]
    scoped = Principal("eve", scopes=frozenset())
    with pytest.raises(UnknownToolError):
        await world.guard().call(scoped, "t", {}, tool=found)


async def test_a_tool_that_was_just_found_is_asked_for_again_after_an_answer(world: World) -> None:
    found = world.tools[world.add("t", DELETE)]
    guard = world.timed(patience=30.0)

    async def change() -> None:
        world.add("t", DELETE, description="It deletes much more now.")
        await guard.approvals.answer(1, yes())

    answer = await while_waiting(guard, "t", change, tool=found)
    assert "has changed since" in text(answer)
    assert world.ran == []
