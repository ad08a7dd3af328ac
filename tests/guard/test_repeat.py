"""Keys that make a call happen once, however often it is sent."""

from dataclasses import replace
from typing import Any

import anyio
import pytest
from tests.guard.world import World, asked, text, yes
from tests.sample_tools import AMY, DELETE, READ, WRITE

from sayso.connect import Fault, RpcError
from sayso.errors import StoreError
from sayso.guard.call import META_KEY, META_OUTCOME, Call
from sayso.guard.ordering import CallQueue, Turn
from sayso.policy import Principal
from sayso.store import Claim, Claims, Records

pytestmark = pytest.mark.anyio

KEYED = {META_KEY: "order-7"}


async def test_a_call_with_a_key_that_was_used_gets_the_first_answer(world: World) -> None:
    guard = world.timed()
    world.add("t", WRITE)
    first = await guard.call(AMY, "t", {"n": 1}, meta=KEYED)
    second = await guard.call(AMY, "t", {"n": 1}, meta=KEYED)
    assert first == second
    assert len(world.ran) == 1
    assert [outcome for _, outcome in await world.log()] == [None, "ok", "repeated"]


async def test_without_a_key_or_with_another_a_call_runs_again(world: World) -> None:
    guard = world.timed()
    world.add("t", WRITE)
    for meta in (None, {}, KEYED, {META_KEY: "order-8"}):
        await guard.call(AMY, "t", {}, meta=meta)
    assert len(world.ran) == 4


@pytest.mark.parametrize("tool", ["t", "other"])
async def test_a_key_serves_no_other_call(world: World, tool: str) -> None:
    guard = world.timed()
    world.add("t", WRITE)
    world.add("other", WRITE)
    await guard.call(AMY, "t", {"n": 1}, meta=KEYED)
    answer = await guard.call(AMY, tool, {"n": 1 if tool == "other" else 2}, meta=KEYED)
    assert text(answer) == "Nothing was run: this key was used for another call."
    assert (await world.log())[-1] == ("outcome", "bad_arguments")
    assert len(world.ran) == 1


@pytest.mark.parametrize(
    "other", [Principal("bo", "chat"), Principal(AMY.subject, "another client")]
)
async def test_a_key_is_its_callers_own(world: World, other: Principal) -> None:
    guard = world.timed()
    world.add("t", WRITE)
    await guard.call(AMY, "t", {}, meta=KEYED)
    await guard.call(other, "t", {}, meta=KEYED)
    assert len(world.ran) == 2


@pytest.mark.parametrize("key", [7, "", "k" * 257, True, [], {"a": 1}, "\ud800"])
async def test_what_is_no_key_runs_nothing(world: World, key: Any) -> None:
    world.add("t", WRITE)
    answer = await world.timed().call(AMY, "t", {}, meta={META_KEY: key})
    assert text(answer).startswith(
        "Nothing was run: io.sayso/idempotency-key must be a text of 1 to 256"
    )
    assert await world.log() == [("outcome", "bad_arguments")]
    assert world.ran == []


async def test_a_key_that_is_null_is_none(world: World) -> None:
    world.add("t", WRITE)
    await world.timed().call(AMY, "t", {}, meta={META_KEY: None})
    assert len(world.ran) == 1


async def test_what_policy_denies_takes_no_key(world: World) -> None:
    world.rule('mode = "plan"')
    world.add("t", WRITE)
    await world.timed().call(AMY, "t", {}, meta=KEYED)
    world.rule("")
    await world.timed().call(AMY, "t", {}, meta=KEYED)
    assert len(world.ran) == 1


async def test_a_call_that_was_never_sent_gives_its_key_back(world: World) -> None:
    guard = world.timed()
    world.add("t", DELETE)
    assert "Not run yet" in text(await guard.call(AMY, "t", {}, meta=KEYED))
    await guard.approvals.answer(1, yes())
    assert "isError" not in await guard.call(AMY, "t", {}, meta=KEYED)
    assert "isError" not in await guard.call(AMY, "t", {}, meta=KEYED)
    assert len(world.ran) == 1


async def test_a_key_is_remembered_for_a_day(world: World) -> None:
    guard = world.timed()
    world.add("t", WRITE)
    await guard.call(AMY, "t", {}, meta=KEYED)
    world.clock.now += 86_399
    await guard.call(AMY, "t", {}, meta=KEYED)
    assert len(world.ran) == 1
    world.clock.now += 1
    await guard.call(AMY, "t", {}, meta=KEYED)
    assert len(world.ran) == 2


async def test_the_tools_own_error_is_the_answer_too(world: World) -> None:
    async def refuses(call: Any) -> dict[str, Any]:
        await world.run(call)
        return {"content": [], "isError": True}

    guard = world.timed()
    object.__setattr__(guard, "run", refuses)
    world.add("t", WRITE)
    answers = [await guard.call(AMY, "t", {}, meta=KEYED) for _ in range(2)]
    assert answers == [{"content": [], "isError": True}] * 2
    assert len(world.ran) == 1


async def test_a_call_whose_answer_was_lost_keeps_its_key_and_is_not_sent_again(
    world: World,
) -> None:
    guard = world.timed(patience=10)
    world.add("t", WRITE)
    world.fails = RpcError(-32000, "gone", fault=Fault.LOST)
    await guard.call(AMY, "t", {}, meta=KEYED)
    world.fails = None
    with anyio.fail_after(30):
        answer = await guard.call(AMY, "t", {}, meta=KEYED)
    assert "has no known answer: it may have run or not" in text(answer)
    assert answer["_meta"] == {META_OUTCOME: "outcome_unknown"}
    assert world.ran == []
    assert (await world.log())[-1] == ("outcome", "repeated")


async def test_a_call_that_no_connection_carried_gives_its_key_back(world: World) -> None:
    guard = world.timed()
    world.add("t", WRITE)
    world.fails = RpcError(-32000, "no connection", fault=Fault.NOT_SENT)
    assert "cannot be reached" in text(await guard.call(AMY, "t", {}, meta=KEYED))
    world.fails = None
    assert "isError" not in await guard.call(AMY, "t", {}, meta=KEYED)


async def test_a_server_that_is_gone_at_a_second_try_may_have_run_the_first(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = [
        RpcError(-32000, "gone", fault=Fault.LOST),
        RpcError(-32000, "no connection", fault=Fault.NOT_SENT),
        RpcError(-32000, "no connection", fault=Fault.NOT_SENT),
    ]

    async def run(call: Any) -> dict[str, Any]:
        call.is_sent = True
        raise fails.pop(0)

    monkeypatch.setattr(world, "run", run)
    world.add("t", {**WRITE, "idempotentHint": True})
    answer = await world.timed().call(AMY, "t", {})
    assert "may have run or not" in text(answer)
    assert (await world.log())[-1] == ("outcome", "outcome_unknown")


async def test_a_protocol_error_keeps_the_key(world: World) -> None:
    guard = world.timed()
    world.add("t", WRITE)
    world.fails = RpcError(-32602, "Invalid params")
    with pytest.raises(RpcError):
        await guard.call(AMY, "t", {}, meta=KEYED)
    world.fails = None
    assert "has no known answer" in text(await guard.call(AMY, "t", {}, meta=KEYED))
    assert world.ran == []


async def test_of_many_calls_at_once_with_one_key_one_runs_and_all_get_its_answer(
    world: World,
) -> None:
    guard = world.timed(patience=20)
    world.add("t", DELETE)
    answers: list[dict[str, Any]] = []

    async def call() -> None:
        answers.append(await guard.call(AMY, "t", {}, meta=KEYED))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(call)
            await asked(guard)
            await guard.approvals.answer(1, yes())
    assert len(world.ran) == 1
    assert [one["structuredContent"] for one in answers] == [{"n": 1}] * 8


async def test_a_call_that_waits_for_one_that_came_to_nothing_may_be_made_again(
    world: World,
) -> None:
    guard = world.timed(patience=20)
    world.add("t", DELETE)
    answers: list[dict[str, Any]] = []

    async def call() -> None:
        answers.append(await guard.call(AMY, "t", {}, meta=KEYED))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            group.start_soon(call)
            await asked(guard)
            await guard.approvals.answer(1, yes(is_allowed=False))
    assert sorted(text(one).partition(".")[0] for one in answers) == [
        "A person denied this call (approval 1)",
        "Nothing was run: the first call with this key did not run either",
    ]


async def test_patience_with_the_first_call_ends(world: World) -> None:
    world.hangs = True
    world.add("t", WRITE)
    guard = world.timed()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: guard.call(AMY, "t", {}, meta=KEYED))
        await world.starts.wait()
        answer = await guard.call(AMY, "t", {}, meta=KEYED)
        assert "has no known answer" in text(answer)
        group.cancel_scope.cancel()


async def test_an_answer_that_is_there_needs_no_patience(world: World) -> None:
    guard = world.timed(patience=0)
    world.add("t", WRITE)
    first = await guard.call(AMY, "t", {}, meta=KEYED)
    assert await guard.call(AMY, "t", {}, meta=KEYED) == first
    assert len(world.ran) == 1


async def test_patience_with_the_first_call_may_be_another_than_with_people(world: World) -> None:
    world.add("t", WRITE)
    answers: list[dict[str, Any]] = []
    released = anyio.Event()

    async def held(call: Call) -> dict[str, Any]:
        call.is_sent = True
        world.starts.set()
        await released.wait()
        return {"content": []}

    async def make() -> None:
        answers.append(await guard.call(AMY, "t", {}, meta=KEYED))

    guard = replace(world.timed(patience=0, repeat_patience=20), run=held)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(make)
            await world.starts.wait()
            group.start_soon(make)
            await anyio.wait_all_tasks_blocked()
            released.set()
    assert answers == [{"content": []}] * 2


async def test_who_waits_for_the_first_call_is_not_in_its_way(world: World) -> None:
    guard = world.timed(patience=30)
    world.add("t", DELETE)
    turns = CallQueue()
    answers: list[dict[str, Any]] = []

    async def call(turn: Turn) -> None:
        answers.append(await guard.call(AMY, "t", {}, meta=KEYED, turn=turn))
        turn.leave()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(call, turns.draw())
            await asked(guard)
            group.start_soon(call, turns.draw())
            await anyio.wait_all_tasks_blocked()
            await guard.approvals.answer(1, yes())
    assert [one["structuredContent"] for one in answers] == [{"n": 1}] * 2


class Forgetful:
    """A real store that cannot keep, or cannot give back, a key."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims

    async def settle(self, *_: Any) -> None:
        raise StoreError("the disk is full")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._claims, name)


async def test_an_answer_that_cannot_be_kept_still_reaches_its_caller(world: World) -> None:
    whole = world.timed()
    broken: Any = Forgetful(world.store.claims)
    object.__setattr__(whole, "claims", broken)
    world.add("t", WRITE)
    answer = await whole.call(AMY, "t", {}, meta=KEYED)
    assert answer["structuredContent"] == {"n": 1}
    assert await world.log() == [("attempt", None), ("outcome", "ok")]


async def test_a_key_that_cannot_be_given_back_hides_nothing_of_how_its_call_ended(
    world: World,
) -> None:
    guard = world.timed()
    broken: Any = Forgetful(world.store.claims)
    object.__setattr__(guard, "claims", broken)
    world.add("t", DELETE)
    assert "Not run yet" in text(await guard.call(AMY, "t", {}, meta=KEYED))
    assert (await world.log())[-1] == ("outcome", "waiting")


class FullLater:
    """A real store whose disk is full from the second attempt on."""

    def __init__(self, records: Records) -> None:
        self._records, self._begun = records, 0

    async def begin(self, *given: Any, **more: Any) -> Any:
        self._begun += 1
        if self._begun > 1:
            raise StoreError("the disk is full")
        return await self._records.begin(*given, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)


async def test_a_log_that_fails_before_a_second_try_does_not_say_that_nothing_ran(
    world: World,
) -> None:
    world.fails = RpcError(-32000, "gone", fault=Fault.LOST)
    world.add("t", READ)
    guard = world.timed()
    broken: Any = FullLater(world.store.records)
    object.__setattr__(guard.audit, "records", broken)
    answer = await guard.call(AMY, "t", {})
    assert "The server's answer was lost" in text(answer)
    assert (await world.log())[-1] == ("outcome", "outcome_unknown")


async def test_a_claim_without_a_chain_is_of_no_writer(world: World) -> None:
    world.add("t", WRITE)
    guard = world.timed()
    await guard.call(AMY, "t", {}, meta=KEYED)
    rows = (await world.store.dump())["claims"]
    assert len(rows) == 1
    found = await world.store.claims.find(rows[0][0])
    assert isinstance(found, Claim)
    assert (found.subject, found.writer) == (AMY.subject, "")


async def test_calls_that_wait_for_one_key_share_each_look_at_the_store(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = world.timed(patience=60)
    world.add("t", DELETE)
    looks = 0
    running, find = world.store.claims.running, world.store.claims.find
    finds = 0

    async def counted(keys: Any) -> Any:
        nonlocal looks
        looks += 1
        return await running(keys)

    async def counted_find(key: str) -> Any:
        nonlocal finds
        finds += 1
        return await find(key)

    monkeypatch.setattr(world.store.claims, "running", counted)
    monkeypatch.setattr(world.store.claims, "find", counted_find)

    async def call() -> None:
        await guard.call(AMY, "t", {}, meta=KEYED)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(30):
                group.start_soon(call)
            await asked(guard)
            while looks < 5 or finds < 29:
                await anyio.sleep(0.005)
            assert finds == 29
            await guard.approvals.answer(1, yes())
    assert len(world.ran) == 1
