"""The history of decisions: limits, first use and conversations, and the entries of calls."""

from typing import Any

import anyio
import pytest
from tests.guard.world import World, asked, text, yes
from tests.sample_tools import AMY, DELETE, READ, WRITE

from sayso.policy import Principal

pytestmark = pytest.mark.anyio

BO = Principal("bo", "chat")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("[limits]\ncalls_per_minute = 2", "2 calls per minute"),
        ("[limits]\ncalls_per_minute = { write = 2 }", "2 write calls per minute"),
        (
            '[[rules]]\nname = "r"\neffect = "allow"\nlimits = { calls_per_minute = 2 }',
            "2 calls of this tool per minute",
        ),
    ],
)
async def test_a_call_beyond_a_limit_is_denied_until_the_minute_is_over(
    world: World, rule: str, words: str
) -> None:
    world.rule(rule)
    guard = world.timed()
    world.add("t", WRITE)
    for _ in range(2):
        assert "isError" not in await guard.call(AMY, "t", {})
        world.clock.now += 10
    answer = await guard.call(AMY, "t", {})
    assert f"the limit of {words} is reached; try again in 40 seconds" in text(answer)
    assert (await world.log())[-1] == ("outcome", "denied")
    assert "isError" not in await guard.call(BO, "t", {})
    world.clock.now += 41
    assert "isError" not in await guard.call(AMY, "t", {})


async def test_a_limit_of_one_level_or_tool_leaves_the_others_alone(world: World) -> None:
    world.rule(
        '[[rules]]\nname = "other"\neffect = "allow"\nlimits = { calls_per_minute = 1 }\n'
        'when = { tool = "other" }\n'
        "[limits]\ncalls_per_minute = { write = 1 }\n"
        '[[rules]]\nname = "r"\neffect = "allow"\nlimits = { calls_per_minute = 2 }'
    )
    guard = world.timed()
    for name, annotations in [("w", WRITE), ("r", READ), ("r2", READ)]:
        world.add(name, annotations)
    for name in ("w", "r", "r", "r2"):
        assert "isError" not in await guard.call(AMY, name, {})
    for name in ("w", "r"):
        assert "is reached" in text(await guard.call(AMY, name, {}))


@pytest.mark.parametrize(
    "rule",
    [
        "[limits]\ncalls_per_minute = 3",
        "[limits]\ncalls_per_minute = { read = 3 }",
        '[[rules]]\nname = "r"\neffect = "allow"\nlimits = { calls_per_minute = 3 }',
    ],
)
async def test_of_many_calls_at_once_only_so_many_run(world: World, rule: str) -> None:
    world.rule(rule)
    guard = world.timed()
    world.add("t", READ)
    answers: list[dict[str, Any]] = []

    async def call() -> None:
        answers.append(await guard.call(AMY, "t", {}))

    async with anyio.create_task_group() as group:
        for _ in range(12):
            group.start_soon(call)
    assert len(world.ran) == 3
    assert sum("isError" in one for one in answers) == 9
    events = [event for event, _ in await world.log()]
    assert (events.count("attempt"), events.count("outcome")) == (3, 12)


async def test_a_limit_is_not_evaded_by_a_clock_that_is_set_back(world: World) -> None:
    world.rule("[limits]\ncalls_per_minute = 1")
    guard = world.timed()
    world.add("t", WRITE)
    await guard.call(AMY, "t", {})
    world.clock.now -= 3600
    answer = await guard.call(AMY, "t", {})
    assert "is reached; try again in 60 seconds" in text(answer)
    assert len(world.ran) == 1


async def test_where_nothing_is_enforced_no_limit_is(world: World) -> None:
    world.rule('mode = "observe"\n[limits]\ncalls_per_minute = 1')
    guard = world.timed()
    world.add("t", WRITE)
    for _ in range(3):
        await guard.call(AMY, "t", {})
    assert len(world.ran) == 3
    assert (await world.line("outcome"))["would_be"] == "deny"


async def test_the_first_use_of_a_tool_asks_and_that_of_a_changed_one_asks_again(
    world: World,
) -> None:
    world.rule('first_use = "confirm"')
    guard = world.timed()
    world.add("t", READ)
    assert "Not run yet" in text(await guard.call(AMY, "t", {}))
    assert (await world.line("asked"))["rule"] == "first_use"
    await guard.approvals.answer(1, yes())
    assert "isError" not in await guard.call(AMY, "t", {})
    assert "isError" not in await guard.call(Principal(AMY.subject, "other"), "t", {})
    assert "Not run yet" in text(await guard.call(BO, "t", {}))
    world.add("t", READ, description="It reads more now.")
    assert "Not run yet" in text(await guard.call(AMY, "t", {}))


async def test_a_denied_first_use_is_no_use(world: World) -> None:
    world.rule('first_use = "confirm"')
    guard = world.timed()
    world.add("t", READ)
    await guard.call(AMY, "t", {})
    await guard.approvals.answer(1, yes(is_allowed=False))
    world.clock.now += 1000
    assert "Not run yet" in text(await guard.call(AMY, "t", {}))


AFTER = '[[rules]]\nname = "r"\neffect = "confirm"\nwhen = {{ level = "write", after = {} }}'


@pytest.mark.parametrize(
    ("after", "ago", "client", "asks"),
    [
        ('{ tool = "web" }', 60, "chat", True),
        ('{ tool = "web" }', 1801, "chat", False),
        ('{ tool = "web" }', 60, "another", True),
        ('{ tool = "web" }', 1801, "another", False),
        ('{ tool = "web", of = "principal" }', 60, "another", True),
        ('{ tool = "web", of = "principal", within = "2h" }', 7200, "another", True),
        ('{ tool = "web", of = "principal", within = "2h" }', 7201, "another", False),
        ('{ level = "read", open_world = true }', 60, "chat", True),
        ('{ level = "destructive" }', 60, "chat", False),
    ],
)
async def test_a_rule_looks_back_on_what_was_done_before(
    world: World,
    after: str,
    ago: float,
    client: str,
    asks: bool,  # noqa: FBT001 - a row of the table above
) -> None:
    world.rule(AFTER.format(after))
    guard = world.timed()
    world.add("web", {"readOnlyHint": True, "openWorldHint": True})
    world.add("t", WRITE)
    await guard.call(AMY, "web", {})
    world.clock.now += ago
    answer = await guard.call(Principal(AMY.subject, client), "t", {})
    assert ("isError" in answer) is asks


async def test_a_conversation_ends_when_it_has_been_silent_for_half_an_hour(world: World) -> None:
    world.rule(AFTER.format('{ tool = "web", within = "2h" }'))
    guard = world.timed()
    for name in ("web", "other"):
        world.add(name, READ)
    world.add("t", WRITE)
    await guard.call(AMY, "web", {})
    for _ in range(3):
        world.clock.now += 1700
        await guard.call(AMY, "other", {})
    assert "Not run yet" in text(await guard.call(AMY, "t", {}))
    world.clock.now += 1801
    assert "isError" not in await guard.call(AMY, "t", {})


async def test_what_was_only_asked_about_was_not_done(world: World) -> None:
    world.rule(AFTER.format('{ tool = "gone" }'))
    guard = world.timed()
    world.add("gone", DELETE)
    world.add("t", WRITE)
    await guard.call(AMY, "gone", {})
    assert (await asked(guard)).state == "pending"
    assert "isError" not in await guard.call(AMY, "t", {})


async def test_a_tool_whose_name_no_database_can_hold_keeps_its_limits(world: World) -> None:
    world.rule('[[rules]]\nname = "r"\neffect = "allow"\nlimits = { calls_per_minute = 1 }')
    world.add("t\0", WRITE)
    assert "isError" not in await world.timed().call(AMY, "t\0", {})
    assert "is reached" in text(await world.timed().call(AMY, "t\0", {}))
    assert (await world.store.dump())["uses"][0][2].startswith("/demo/t\ufffd/")


LOOSE = (
    'mode = "strict"\n[[rules]]\nname = "r"\neffect = "allow"\n'
    'when = { level = "write", after = { tool = "web" } }'
)
UNLESS = (
    '[[rules]]\nname = "r"\neffect = "deny"\n'
    'when = { level = "write" }\nunless = { after = { tool = "web" } }'
)


@pytest.mark.parametrize("rule", [LOOSE, UNLESS])
async def test_a_client_that_takes_another_name_gets_nothing_for_what_it_did_before(
    world: World, rule: str
) -> None:
    world.rule(rule)
    guard = world.timed()
    world.add("web", READ)
    world.add("t", WRITE)
    await guard.call(AMY, "web", {})
    assert "isError" not in await guard.call(AMY, "t", {})
    assert "isError" in await guard.call(Principal(AMY.subject, "another"), "t", {})


async def test_a_client_that_changes_its_name_in_turn_does_not_end_its_conversation(
    world: World,
) -> None:
    world.rule(AFTER.format('{ tool = "web", within = "2h" }'))
    guard = world.timed()
    for name in ("web", "other"):
        world.add(name, READ)
    world.add("t", WRITE)
    await guard.call(AMY, "web", {})
    for client in ("a", "", "c"):
        world.clock.now += 1700
        await guard.call(Principal(AMY.subject, client), "other", {})
    await guard.call(AMY, "other", {})
    for client in (AMY.client, "d"):
        answer = await guard.call(Principal(AMY.subject, client), "t", {})
        assert "Not run yet" in text(answer)
    world.clock.now += 1801
    assert "isError" not in await guard.call(AMY, "t", {})


async def test_clients_that_proved_their_names_have_conversations_of_their_own(
    world: World,
) -> None:
    world.rule(AFTER.format('{ tool = "web" }'))
    guard = world.timed()
    world.add("web", READ)
    world.add("t", WRITE)
    first, second = (Principal("amy", name, scopes=frozenset()) for name in ("one", "two"))
    await guard.call(first, "web", {})
    assert "isError" not in await guard.call(second, "t", {})
    assert "Not run yet" in text(await guard.call(first, "t", {}))
