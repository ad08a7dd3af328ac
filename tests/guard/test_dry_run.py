"""Plans by a dry run: the tool itself is called with its own parameter, and never runs for real."""

from typing import Any

import anyio
import msgspec
import pytest
from tests.guard.world import World, asked, text, while_waiting, yes
from tests.sample_tools import AMY, DELETE, READ

from sayso.guard import Call
from sayso.guard.steps.plan import MAX_PLAN_CHARACTERS

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {"number": {"type": "integer"}, "dryRun": {"type": "boolean"}},
}
UNPLANNED = "Nothing was run: what this call would change could not be planned."


def add(world: World, annotations: Any = DELETE, **more: Any) -> None:
    world.add("t", annotations, **{"inputSchema": SCHEMA, "dry_run": "dryRun", **more})


def result(structured: Any = None, *texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": one} for one in texts]
    answer = {"content": content, "structuredContent": structured, **more}
    return {key: one for key, one in answer.items() if one is not None}


def arguments_of(world: World) -> list[Any]:
    return [one.arguments for one in world.ran]


async def test_the_tool_is_called_as_a_dry_run_first_and_its_result_is_what_is_asked(
    world: World,
) -> None:
    add(world)
    world.answer = lambda _: result({"changes": ["customer 12"], "note": "more"})
    guard = world.timed()

    await guard.call(AMY, "t", {"number": 12})

    assert arguments_of(world) == [{"number": 12, "dryRun": True}]
    question = (await asked(guard)).question
    assert (question.plan, question.arguments) == (
        {"changes": ["customer 12"], "total": 1},
        {"number": 12},
    )
    dry = await world.line("attempt")
    assert dry["arguments"] == {"number": 12, "dryRun": True}
    calls = {row.event: row.call for row in reversed(await world.store.records.newest())}
    assert dry["dry_run_of"] == calls["asked"] != calls["attempt"]

    await guard.approvals.answer(1, yes())
    assert "isError" not in await guard.call(AMY, "t", {"number": 12})
    assert arguments_of(world)[-1] == {"number": 12}
    assert all(one["dryRun"] for one in arguments_of(world)[:-1])


@pytest.mark.parametrize(
    ("answer", "changes"),
    [
        (result({"result": ["a", "b"]}), ["a", "b"]),
        (result({"result": "a"}), ["a"]),
        (result({"deleted": 3}), [{"deleted": 3}]),
        (result({"changes": 3}), [{"changes": 3}]),
        (result(None, "would delete a", "and b"), ["would delete a", "and b"]),
        ({"content": [{"type": "image"}, 7]}, []),
        ({}, []),
        ({"structuredContent": msgspec.Raw(b'{"deleted": 3}')}, [{"deleted": 3}]),
    ],
)
async def test_whatever_a_dry_run_gives_is_shown(world: World, answer: Any, changes: Any) -> None:
    add(world)
    world.answer = lambda _: answer
    guard = world.timed()
    await guard.call(AMY, "t", {})
    assert (await asked(guard)).question.plan == {"changes": changes, "total": len(changes)}


async def test_what_a_dry_run_says_against_the_call_ends_it(world: World) -> None:
    add(world)
    world.answer = lambda _: result(None, "no such customer", isError=True)
    guard = world.timed()

    answer = await guard.call(AMY, "t", {})

    assert text(answer) == "Nothing was run: the tool's dry run failed: no such customer"
    assert await guard.approvals.newest() == []
    assert len(world.ran) == 1


@pytest.mark.parametrize(
    "answer",
    [
        result(None, "?", resultType="input_required"),
        result({"text": "x" * MAX_PLAN_CHARACTERS}),
        {"structuredContent": msgspec.Raw(b"{")},
    ],
)
async def test_without_a_plan_that_can_be_read_nothing_runs(world: World, answer: Any) -> None:
    add(world)
    world.answer = lambda _: answer
    guard = world.timed()
    assert text(await guard.call(AMY, "t", {})) == UNPLANNED
    assert arguments_of(world) == [{"dryRun": True}]
    assert await guard.approvals.newest() == []


async def test_a_dry_run_that_breaks_or_hangs_ends_the_call(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(world)
    world.fails = ValueError("hunter2")
    assert text(await world.timed().call(AMY, "t", {})) == UNPLANNED
    assert await world.log() == [
        ("attempt", None),
        ("outcome", "outcome_unknown"),
        ("outcome", "failed"),
    ]
    monkeypatch.setattr("sayso.guard.steps.plan.DRY_RUN_SECONDS", 0.05)
    world.hangs = True
    with anyio.fail_after(60):
        assert text(await world.timed().call(AMY, "t", {})) == UNPLANNED


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"dryRun": {"type": "string"}}},
        {"type": "object", "properties": {"dryRun": {"type": "boolean", "const": False}}},
    ],
)
async def test_a_tool_that_does_not_take_the_parameter_is_never_called(
    world: World, schema: Any
) -> None:
    add(world, inputSchema=schema)
    guard = world.timed()
    assert text(await guard.call(AMY, "t", {})) == UNPLANNED
    assert world.ran == []
    assert await guard.approvals.newest() == []


async def test_a_caller_that_asks_for_a_dry_run_itself_is_judged_as_before(world: World) -> None:
    add(world)
    guard = world.timed()
    answer = await guard.call(AMY, "t", {"dryRun": True})
    assert answer["isError"]
    assert (await asked(guard)).question.arguments == {"dryRun": True}
    assert len(world.ran) == 1


async def test_what_only_reads_or_asks_nobody_has_no_dry_run(world: World) -> None:
    add(world, READ)
    world.rule('[[rules]]\nname = "r"\neffect = "confirm"')
    await world.timed().call(AMY, "t", {})
    assert world.ran == []
    world.rule('[[rules]]\nname = "r"\neffect = "allow"')
    add(world)
    await world.timed().call(AMY, "t", {"number": 1})
    assert arguments_of(world) == [{"number": 1}]


async def test_the_operator_can_name_the_parameter(world: World) -> None:
    add(world, dry_run=None)
    world.rule('[dry_run.demo]\nt = "dryRun"')
    guard = world.timed()
    await guard.call(AMY, "t", {"number": 1})
    assert arguments_of(world) == [{"number": 1, "dryRun": True}]
    assert (await asked(guard)).question.plan == {"changes": [{"n": 1}], "total": 1}


async def test_a_plan_that_is_another_when_the_answer_comes_is_asked_about_anew(
    world: World,
) -> None:
    add(world)
    customers = ["customer 12"]

    def answer(_: Call) -> dict[str, Any]:
        return {"structuredContent": {"result": list(customers)}, "content": []}

    world.answer = answer
    guard = world.timed(patience=20)

    async def grow() -> None:
        customers.append("customer 13")
        await guard.approvals.answer(1, yes())
        second = await asked(guard, 2)
        assert second.question.plan == {"changes": customers, "total": 2}
        assert all(one["dryRun"] for one in arguments_of(world))
        await guard.approvals.answer(2, yes())

    assert "isError" not in await while_waiting(guard, "t", grow)
    assert arguments_of(world)[-1] == {}
