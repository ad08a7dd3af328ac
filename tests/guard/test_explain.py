"""Explanations of calls: the same decision as the call gets, and nothing is recorded."""

from typing import Any

import pytest
from tests.guard.world import World, giving
from tests.sample_tools import AMY

from sayso.errors import UsageError
from sayso.guard import explain_call, new_id
from sayso.intent import DESTRUCTIVE, Hints

pytestmark = pytest.mark.anyio

READS = {"readOnlyHint": True}
WRITES = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
DESTROYS = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False}
LARGE = """
[[rules]]
name = "large"
effect = "deny"
reason = "too much"
when = { arguments = { amount = { range = { min = 101 } } } }
"""


@pytest.mark.parametrize(
    ("annotations", "arguments", "effect"),
    [
        (READS, {"amount": 1}, "allow"),
        (WRITES, {"amount": 1}, "allow"),
        (DESTROYS, {"amount": 1}, "confirm"),
        (READS, {"amount": 101}, "deny"),
    ],
)
async def test_it_is_the_decision_that_the_call_gets_and_nothing_is_written(
    world: World, annotations: dict[str, Any], arguments: dict[str, Any], effect: str
) -> None:
    world.rule(LARGE)
    guard, name = world.timed(), world.add("thing", annotations)

    explained = await explain_call(guard, AMY, world.tools[name], arguments)
    assert await world.store.records.newest() == []
    assert world.ran == []
    await guard.call(AMY, name, arguments, id="mine")

    assert explained.decision.effect == effect
    (*_, first) = await world.store.records.newest()
    assert first.call == "mine"
    assert f'"{effect}"' in first.body


async def test_what_rules_look_back_on_counts(world: World) -> None:
    world.rule('[first_use]\n"*" = "confirm"\n')
    guard, name = world.timed(), world.add("look", READS)

    before = await explain_call(guard, AMY, world.tools[name], {})
    world.rule("")
    await guard.call(AMY, name, {})
    world.rule('[first_use]\n"*" = "confirm"\n')
    after = await explain_call(guard, AMY, world.tools[name], {})

    assert (before.decision.effect, after.decision.effect) == ("confirm", "allow")


async def test_a_call_that_its_author_narrows_is_judged_as_narrowed(world: World) -> None:
    def narrow(given: dict[str, Any]) -> Hints:
        return Hints(destructive="dry" not in given)

    name = world.add("wipe", DESTROYS, narrow=narrow)
    guard = world.timed()

    dry = await explain_call(guard, AMY, world.tools[name], {"dry": True})
    wet = await explain_call(guard, AMY, world.tools[name], {})

    assert (dry.decision.effect, wet.decision.effect) == ("allow", "confirm")


async def test_a_call_that_its_author_widens_is_no_call(world: World) -> None:
    name = world.add("look", READS, narrow=giving(DESTRUCTIVE))

    with pytest.raises(UsageError, match="wider than the tool's"):
        await explain_call(world.timed(), AMY, world.tools[name], {})


def test_each_call_has_an_id_of_its_own() -> None:
    assert len({new_id() for _ in range(100)}) == 100
