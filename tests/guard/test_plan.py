"""Plans in the guard: taken before a person is asked, and again before the call runs."""

from typing import Any

import anyio
import pytest
from tests.guard.world import World, asked, giving, text, while_waiting, yes
from tests.sample_tools import AMY, DELETE, READ, WRITE

from sayso.approvals import make_plan
from sayso.errors import DeniedError

pytestmark = pytest.mark.anyio

LIMITED = '[[rules]]\nname = "few"\neffect = "{}"\nlimits = {{ targets = 2 }}'


def lines(*changes: Any) -> Any:
    return giving(list(changes))


async def test_the_person_sees_what_would_change_and_its_digest_is_on_record(world: World) -> None:
    world.add("t", DELETE, plan=lines("customer 12", {"action": "delete", "token": "hunter2"}))
    guard = world.timed()
    await guard.call(AMY, "t", {})
    question = (await asked(guard)).question
    assert question.plan == {
        "changes": ["customer 12", {"action": "delete", "token": "•••"}],
        "total": 2,
    }
    assert (await world.line("asked"))["plan"] == question.plan_digest
    await guard.approvals.answer(1, yes())
    assert "isError" not in await guard.call(AMY, "t", {})


@pytest.mark.parametrize(
    ("annotations", "rule"),
    [
        (DELETE, '[[rules]]\nname = "r"\neffect = "allow"'),
        (READ, '[[rules]]\nname = "r"\neffect = "confirm"'),
        (WRITE, ""),
        (DELETE, '[[rules]]\nname = "r"\neffect = "deny"'),
    ],
)
async def test_a_plan_that_nobody_looks_at_is_not_taken(
    world: World, annotations: Any, rule: str
) -> None:
    taken: list[Any] = []

    def plan(arguments: dict[str, Any]) -> list[str]:
        taken.append(arguments)
        return []

    world.rule(rule)
    world.add("t", annotations, plan=plan)
    await world.timed().call(AMY, "t", {})
    assert taken == []


async def test_an_asynchronous_plan_is_waited_for(world: World) -> None:
    async def plan(_: dict[str, Any]) -> dict[str, Any]:
        await anyio.lowlevel.checkpoint()
        return {"changes": ["one"], "note": "more"}

    world.add("t", DELETE, plan=plan)
    guard = world.timed()
    await guard.call(AMY, "t", {})
    assert (await asked(guard)).question.plan == {"changes": ["one"], "total": 1}


@pytest.mark.parametrize("effect", ["allow", "confirm"])
async def test_a_call_that_would_change_too_much_is_denied_before_anyone_is_asked(
    world: World, effect: str
) -> None:
    world.rule(LIMITED.format(effect))
    world.add("t", DELETE, plan=lines(1, 2, 3))
    guard = world.timed()
    answer = await guard.call(AMY, "t", {})
    assert "it would change 3 things, and at most 2 may change at once" in text(answer)
    assert world.ran == []
    assert await guard.approvals.newest() == []
    assert await world.log() == [("outcome", "denied")]


async def test_a_call_within_the_limit_on_how_much_runs(world: World) -> None:
    world.rule(LIMITED.format("allow"))
    world.add("t", DELETE, plan=lines(1, 2))
    assert "isError" not in await world.timed().call(AMY, "t", {})
    assert (await world.line("attempt"))["plan"] == make_plan([1, 2]).digest


@pytest.mark.parametrize(
    "said", ["all", None, 7, {"n": 1}, [float("nan")], [{1}], ["\ud800"], ValueError("hunter2")]
)
async def test_without_a_plan_that_can_be_read_nothing_runs(world: World, said: Any) -> None:
    def plan(_: Any) -> Any:
        if isinstance(said, Exception):
            raise said
        return said

    world.add("t", DELETE, plan=plan)
    guard = world.timed()
    answer = await guard.call(AMY, "t", {})
    assert text(answer) == "Nothing was run: what this call would change could not be planned."
    assert await guard.approvals.newest() == []
    assert await world.log() == [("outcome", "failed")]


async def test_a_plan_that_hangs_is_not_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(_: Any) -> None:
        await anyio.sleep_forever()

    monkeypatch.setattr("sayso.approvals.plan._PLAN_SECONDS", 0.05)
    world.add("t", DELETE, plan=hangs)
    with anyio.fail_after(60):
        assert "could not be planned" in text(await world.timed().call(AMY, "t", {}))


async def test_a_plan_that_is_another_when_the_answer_comes_is_asked_about_anew(
    world: World,
) -> None:
    customers = ["customer 12"]
    world.add("t", DELETE, plan=giving(customers))
    guard = world.timed(patience=20)

    async def grow() -> None:
        customers.append("customer 13")
        await guard.approvals.answer(1, yes())
        second = await asked(guard, 2)
        assert second.question.plan == {"changes": customers, "total": 2}
        assert world.ran == []
        await guard.approvals.answer(2, yes())

    assert "isError" not in await while_waiting(guard, "t", grow)
    assert [one.state for one in await guard.approvals.newest()] == ["used", "approved"]
    assert len(world.ran) == 1


async def test_an_edit_that_changes_nothing_hides_no_plan_that_has_changed(world: World) -> None:
    customers = ["customer 12"]
    world.add("t", DELETE, plan=giving(customers))
    # Long enough for a busy machine to see the first question before it ends.
    guard = world.timed(patience=4)

    async def grow() -> None:
        customers.append("customer 13")
        await guard.approvals.answer(1, yes(edit={"n": 1}))

    answer = await while_waiting(guard, "t", grow, arguments={"n": 1})
    assert answer["_meta"]["io.sayso/approval"] == {"number": 2, "state": "pending"}
    assert world.ran == []


async def test_a_plan_that_cannot_be_taken_again_runs_nothing(world: World) -> None:
    said: list[Any] = [["one"]]

    def plan(_: Any) -> Any:
        return said.pop()

    world.add("t", DELETE, plan=plan)
    guard = world.timed(patience=20)
    answer = await while_waiting(guard, "t", lambda: guard.approvals.answer(1, yes()))
    assert text(answer) == "Nothing was run: what this call would change could not be planned."
    assert (await world.log())[-1] == ("outcome", "failed")
    assert world.ran == []
    assert (await asked(guard)).state == "approved"


async def test_an_author_may_say_why_there_is_no_plan(world: World) -> None:
    def plan(_: Any) -> Any:
        return _refuse("there is no customer 12.")

    world.add("t", DELETE, plan=plan)
    guard = world.timed()
    assert text(await guard.call(AMY, "t", {})) == "Nothing was run: there is no customer 12."
    assert await guard.approvals.newest() == []
    assert await world.log() == [("outcome", "tool_error")]


async def test_an_author_may_say_why_there_is_no_plan_any_more(world: World) -> None:
    gone: list[str] = []

    def plan(_: Any) -> list[str]:
        return _refuse("customer 12 is gone.") if gone else ["customer 12"]

    async def go() -> None:
        gone.append("customer 12")
        await guard.approvals.answer(1, yes())

    world.add("t", DELETE, plan=plan)
    guard = world.timed(patience=20)
    assert text(await while_waiting(guard, "t", go)) == "Nothing was run: customer 12 is gone."
    assert world.ran == []
    assert (await asked(guard)).state == "approved"


def _refuse(why: str) -> Any:
    raise DeniedError(why)


async def test_a_plan_cannot_change_what_runs(world: World) -> None:
    def changes(arguments: dict[str, Any]) -> list[str]:
        arguments["ids"].append(2)
        return ["customer 1"]

    world.add("t", DELETE, plan=changes)
    guard = world.timed(patience=20)
    await while_waiting(
        guard, "t", lambda: guard.approvals.answer(1, yes()), arguments={"ids": [1]}
    )
    assert [call.arguments for call in world.ran] == [{"ids": [1]}]
