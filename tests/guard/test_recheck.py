"""After an answer and before the call: the subject of the question must be unchanged."""

from typing import Any

import anyio
import pytest
from tests.guard.world import World, asked, text, while_waiting, yes
from tests.sample_tools import AMY, DELETE, READ, WRITE

from sayso.errors import UnreachableError
from sayso.intent import FETCH, QUERY
from sayso.schema import digest

pytestmark = pytest.mark.anyio

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
EDITED = {"n": 2}


async def approved_while(world: World, change: Any, **more: Any) -> dict[str, Any]:
    """A call of `t` that is approved after `change`."""
    guard = world.timed(patience=20)

    async def then() -> None:
        await change()
        await guard.approvals.answer(1, yes(**more))

    return await while_waiting(guard, "t", then, arguments={"n": 1})


async def nothing() -> None:
    """Change nothing."""


async def test_an_approved_call_runs_with_what_is_on_record_of_its_answer(world: World) -> None:
    world.add("t", DELETE, inputSchema=NUMBER)
    assert "isError" not in await approved_while(world, nothing, by="bo")
    end = await world.line("outcome")
    assert (end["answered_by"], end["channel"], end["approval"]) == ("bo", "console", 1)
    assert "asked_digest" not in end


async def test_a_reviewers_edit_is_what_runs_and_both_digests_are_on_record(world: World) -> None:
    world.add("t", DELETE, inputSchema=NUMBER)
    await approved_while(world, nothing, edit=EDITED)
    assert [call.arguments for call in world.ran] == [EDITED]
    end = await world.line("attempt")
    assert end["arguments"] == EDITED
    assert (end["arguments_digest"], end["asked_digest"]) == (digest(EDITED), digest({"n": 1}))


async def test_an_edit_that_does_not_fit_the_tool_runs_nothing_and_says_why(world: World) -> None:
    world.add("t", DELETE, inputSchema=NUMBER)
    answer = await approved_while(world, nothing, edit={"n": "two"})
    assert "the reviewer's change does not fit the tool: n:" in text(answer)
    assert world.ran == []
    assert (await world.log())[-1] == ("outcome", "denied")


async def test_an_edit_of_a_tool_without_a_schema_is_taken(world: World) -> None:
    world.add("t", DELETE, inputSchema={"type": 7})
    await approved_while(world, nothing, edit=EDITED)
    assert [call.arguments for call in world.ran] == [EDITED]


async def test_an_edit_that_policy_denies_runs_nothing(world: World) -> None:
    world.rule(
        '[[rules]]\nname = "no-two"\neffect = "deny"\nreason = "two is too many"\n'
        "when = { arguments = { n = { equals = 2 } } }"
    )
    world.add("t", DELETE, inputSchema=NUMBER)
    answer = await approved_while(world, nothing, edit=EDITED)
    assert "Policy does not allow this call: two is too many. Nothing was run." in text(answer)
    assert world.ran == []


async def test_an_edit_is_narrowed_anew_from_the_whole_tool(world: World) -> None:
    def narrow(arguments: dict[str, Any]) -> Any:
        return FETCH if arguments["n"] == 1 else None

    world.rule('[[rules]]\nname = "r"\neffect = "confirm"')
    world.add("t", DELETE, inputSchema=NUMBER, narrow=narrow)
    await approved_while(world, nothing, edit=EDITED)
    assert (await world.line("asked"))["level"] == "read"
    assert (await world.line("attempt"))["level"] == "destructive"


async def test_an_edit_outside_of_the_authors_condition_runs_nothing(world: World) -> None:
    def when(arguments: dict[str, Any]) -> bool:
        return arguments["n"] == 1

    world.add("t", DELETE, inputSchema=NUMBER, when=when, otherwise="Only one.")
    answer = await approved_while(world, nothing, edit=EDITED)
    assert text(answer) == "Only one. Nothing was run."
    assert world.ran == []
    assert (await world.log())[-1] == ("outcome", "denied")


async def test_a_condition_that_ends_while_a_person_thinks_lets_nothing_run(world: World) -> None:
    holds = [True]

    def when(_: dict[str, Any]) -> bool:
        return holds[-1]

    world.add("t", DELETE, inputSchema=NUMBER, when=when)

    async def end() -> None:
        holds.append(False)

    assert "cannot be used now" in text(await approved_while(world, end))
    assert world.ran == []


async def test_a_condition_cannot_change_what_is_called(world: World) -> None:
    def when(arguments: dict[str, Any]) -> bool:
        return arguments.clear() is None

    world.add("t", DELETE, inputSchema=NUMBER, when=when)
    await approved_while(world, nothing)
    assert [call.arguments for call in world.ran] == [{"n": 1}]


async def test_an_edit_whose_intent_is_wider_than_the_tools_runs_nothing(world: World) -> None:
    def narrow(arguments: dict[str, Any]) -> Any:
        return None if arguments["n"] == 1 else FETCH.but(read_only=False)

    world.rule('[[rules]]\nname = "r"\neffect = "confirm"')
    world.add("t", READ, inputSchema=NUMBER, narrow=narrow)
    answer = await approved_while(world, nothing, edit=EDITED)
    assert "a call's read_only is wider than the tool's" in text(answer)
    assert world.ran == []


async def test_a_policy_that_denies_now_counts_whatever_was_answered(world: World) -> None:
    world.add("t", DELETE)

    async def change() -> None:
        world.rule('[[rules]]\nname = "r"\neffect = "deny"\nreason = "closed for today"')

    answer = await approved_while(world, change)
    assert "closed for today" in text(answer)
    assert world.ran == []
    assert (await asked(world.timed())).state == "approved"


async def test_a_policy_that_asks_for_more_now_is_not_content_with_what_was_answered(
    world: World,
) -> None:
    world.add("t", DELETE)

    async def change() -> None:
        world.rule('[[rules]]\nname = "r"\neffect = "confirm"\nreviewers = 2')

    answer = await approved_while(world, change)
    assert "now has another requirement; make the call again to ask a person" in text(answer)
    assert world.ran == []
    assert "approval 2" in text(await world.timed().call(AMY, "t", {"n": 1}))


async def test_an_answer_over_a_channel_that_policy_takes_no_more_does_not_count(
    world: World,
) -> None:
    world.add("t", DELETE)
    guard = world.timed(patience=20)

    async def change() -> None:
        await guard.approvals.answer(1, yes())
        world.rule('[approvals]\nchannels = ["link"]')

    answer = await while_waiting(guard, "t", change)
    assert "the policy no longer accepts answers over “console”" in text(answer)
    assert world.ran == []


async def test_a_policy_that_asks_nothing_any_more_lets_an_approved_call_run(world: World) -> None:
    world.add("t", DELETE)

    async def change() -> None:
        world.rule('[[rules]]\nname = "r"\neffect = "allow"')

    assert "isError" not in await approved_while(world, change)


@pytest.mark.parametrize("effect", ["hide", "untrusted", "gone"])
async def test_a_tool_that_is_hidden_or_gone_or_seen_otherwise_now_does_not_run(
    world: World, effect: str
) -> None:
    world.add("t", WRITE)
    world.rule('mode = "strict"')

    async def change() -> None:
        if effect == "gone":
            del world.tools["t"]
        elif effect == "hide":
            world.rule('[[rules]]\nname = "r"\neffect = "hide"')
        else:
            world.rule('mode = "strict"\n[trust]\ndemo = "untrusted"')

    answer = await approved_while(world, change)
    assert "has changed since" in text(answer)
    assert world.ran == []
    assert (await world.log())[-1] == ("outcome", "tool_changed")


async def test_a_server_that_is_gone_when_the_answer_comes_runs_nothing(world: World) -> None:
    world.add("t", DELETE)

    async def gone(name: str, _principal: object, /, *, is_fresh: bool = False) -> Any:
        if is_fresh:
            raise UnreachableError("no connection to db.internal", where="demo")
        return await world.find(name, AMY)

    guard = world.timed(patience=20)
    object.__setattr__(guard, "find_tool", gone)
    answer = await while_waiting(guard, "t", lambda: guard.approvals.answer(1, yes()))
    assert text(answer) == "Nothing was run: the server “demo” cannot be reached."
    assert (await world.log())[-1] == ("outcome", "unreachable")
    assert (await asked(guard)).state == "approved"


async def test_a_call_that_loses_an_edited_approval_asks_for_what_its_caller_wants(
    world: World,
) -> None:
    world.add("t", DELETE, inputSchema=NUMBER)
    guard = world.timed(patience=2)
    answers: list[dict[str, Any]] = []

    async def call() -> None:
        answers.append(await guard.call(AMY, "t", {"n": 1}))

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        group.start_soon(call)
        await asked(guard)
        await guard.approvals.answer(1, yes(edit=EDITED))
    assert [one.arguments for one in world.ran] == [EDITED]
    assert [one.question.arguments for one in await guard.approvals.newest()] == [{"n": 1}] * 2
    assert len(answers) == 2


async def test_a_question_that_expires_while_its_call_waits_is_put_anew(world: World) -> None:
    world.add("t", DELETE)
    guard = world.timed(patience=20)

    async def expire() -> None:
        world.clock.now += 10_000
        await asked(guard, 2)
        await guard.approvals.answer(2, yes())

    assert "isError" not in await while_waiting(guard, "t", expire)
    assert [one.state for one in await guard.approvals.newest()] == ["used", "expired"]


async def test_a_narrowing_that_is_wider_now_does_not_run(world: World) -> None:
    said: list[Any] = [None, QUERY.but(read_only=False)]
    world.rule('[[rules]]\nname = "r"\neffect = "confirm"')

    def narrow(_: Any) -> Any:
        return said.pop(0)

    world.add("t", READ, narrow=narrow)
    answer = await approved_while(world, nothing)
    assert "has changed since" in text(answer)
    assert world.ran == []
