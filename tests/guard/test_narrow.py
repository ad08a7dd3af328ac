"""Narrowing: one call's intent, narrower than its tool's or the same."""

from dataclasses import replace
from typing import Any

import anyio
import pytest
from tests.guard.world import World, giving, text
from tests.sample_tools import AMY, DELETE, READ, WRITE, tool

from sayso.catalog import make_tool
from sayso.errors import UsageError
from sayso.guard.steps.narrow import narrowed
from sayso.intent import DELETE as DELETES
from sayso.intent import FETCH, LOOSER, QUERY, Hints, Intent, Level, Source

pytestmark = pytest.mark.anyio

DRY = {"dry_run": True}


def when_dry(arguments: dict[str, Any]) -> Intent | None:
    return QUERY if arguments.get("dry_run") else None


async def as_said(said: Any, annotations: Any = DELETE) -> Any:
    """A tool as it is for a call of which its author says so."""
    made = tool("t", annotations)
    return await narrowed(replace(made, intent=replace(made.intent, narrow=giving(said))), {})


async def test_a_call_that_only_reads_asks_nobody_though_its_tool_destroys(world: World) -> None:
    world.add("t", DELETE, narrow=when_dry)
    guard = world.timed()
    assert "isError" not in await guard.call(AMY, "t", DRY)
    assert (await world.line("attempt"))["level"] == "read"
    assert "Not run yet" in text(await guard.call(AMY, "t", {"dry_run": False}))


async def test_policy_sees_the_call_as_it_is_narrowed(world: World) -> None:
    world.rule('mode = "plan"')
    world.add("t", DELETE, narrow=when_dry)
    assert "isError" not in await world.timed().call(AMY, "t", DRY)
    assert "Policy does not allow" in text(await world.timed().call(AMY, "t", {}))


async def test_what_is_narrowed_says_that_its_author_said_so() -> None:
    found = await as_said(QUERY)
    assert found.level is Level.READ
    assert {one.source for _, one in found.resolved.items()} == {Source.DECLARED}
    # The tool may reach out, and the author says that this call does not.
    assert found.resolved.open_world.value is LOOSER["open_world"]


async def test_an_asynchronous_narrowing_is_waited_for() -> None:
    async def later() -> Hints:
        await anyio.lowlevel.checkpoint()
        return QUERY.hints

    assert (await as_said(later())).level is Level.READ


@pytest.mark.parametrize(
    "said", [None, Hints(), Intent(), DELETES.but(open_world=True), Hints(destructive=True)]
)
async def test_what_says_nothing_new_changes_nothing(said: Any) -> None:
    assert (await as_said(said)).resolved == tool("t", DELETE).resolved


async def test_one_hint_alone_is_narrowed() -> None:
    found = (await as_said(Hints(idempotent=True))).resolved
    assert found.idempotent.value
    assert found.destructive.value
    assert (await as_said(Hints(destructive=False))).level is Level.WRITE


@pytest.mark.parametrize(
    ("said", "annotations", "hint"),
    [
        (Hints(read_only=False), READ, "read_only"),
        (Hints(destructive=True), WRITE, "destructive"),
        (Hints(open_world=True), WRITE, "open_world"),
        (FETCH, WRITE, "open_world"),
        (Hints(idempotent=False), {**WRITE, "idempotentHint": True}, "idempotent"),
    ],
)
async def test_what_is_wider_than_the_tool_is_refused(
    said: Any, annotations: Any, hint: str
) -> None:
    with pytest.raises(UsageError, match=f"t: a call's {hint} is wider than the tool's"):
        await as_said(said, annotations)


async def test_what_means_nothing_on_a_call_that_only_reads_is_passed_over() -> None:
    said = Hints(read_only=True, destructive=True, idempotent=False)
    found = (await as_said(said, {**WRITE, "idempotentHint": True})).resolved
    assert (found.read_only.value, found.destructive.value, found.idempotent.value) == (
        True,
        False,
        True,
    )


async def test_the_operators_word_stands_whatever_the_author_says() -> None:
    raw = {"name": "t", "annotations": DELETE}
    made = make_tool("demo", raw, operator=Hints(read_only=False, destructive=True))
    found = await narrowed(replace(made, intent=replace(made.intent, narrow=when_dry)), DRY)
    assert found.level is Level.DESTRUCTIVE
    assert found.resolved.destructive.source is Source.OPERATOR


async def test_a_narrowing_that_says_wider_runs_nothing_and_is_on_record(world: World) -> None:
    world.add("t", READ, narrow=giving(DELETES))
    answer = await world.timed().call(AMY, "t", {})
    assert text(answer).startswith("Nothing was run: what this call would do is not what")
    assert await world.log() == [("refused", "failed")]
    assert world.ran == []


@pytest.mark.parametrize("said", ["read_only", {"read_only": True}, True, 0])
async def test_a_narrowing_that_says_something_else_runs_nothing(world: World, said: Any) -> None:
    world.add("t", DELETE, narrow=giving(said))
    assert "Nothing was run" in text(await world.timed().call(AMY, "t", {}))
    assert await world.log() == [("refused", "failed")]


async def test_where_a_narrowing_fails_the_tools_own_intent_stands(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_: dict[str, Any]) -> None:
        raise ValueError("password hunter2")

    world.add("t", DELETE, narrow=fails)
    answer = await world.timed().call(AMY, "t", {})
    assert "Not run yet" in text(answer)
    assert "hunter2" not in str(answer)
    assert "narrowing a call of t failed" in caplog.text


async def test_a_narrowing_that_hangs_is_not_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(_: dict[str, Any]) -> None:
        await anyio.sleep_forever()

    monkeypatch.setattr("sayso.guard.steps.narrow._NARROW_SECONDS", 0.05)
    world.add("t", DELETE, narrow=hangs)
    with anyio.fail_after(60):
        assert "Not run yet" in text(await world.timed().call(AMY, "t", {}))


async def test_a_narrowing_cannot_change_what_runs(world: World) -> None:
    def changes(arguments: dict[str, Any]) -> Intent:
        arguments["ids"].append(2)
        arguments["force"] = True
        return QUERY

    world.add("t", DELETE, narrow=changes)
    await world.timed().call(AMY, "t", {"ids": [1]})
    assert [call.arguments for call in world.ran] == [{"ids": [1]}]
