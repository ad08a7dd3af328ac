"""One subject in two tenants: answers, limits, history and keys of one are not the other's."""

import json
from dataclasses import replace

import pytest
from tests.guard.world import KEYS, World, text, yes
from tests.sample_tools import DELETE, READ, WRITE

from sayso.audit import erase_subject, open_audit
from sayso.guard.call import META_KEY
from sayso.intent import Span
from sayso.policy import Principal

pytestmark = pytest.mark.anyio

ACME = Principal("amy", "chat", scopes=frozenset(), tenant="acme")
OTHER = replace(ACME, tenant="other/acme")
NONE = replace(ACME, tenant=None)


async def test_an_approval_of_one_tenant_does_not_serve_another(world: World) -> None:
    guard = world.timed(patience=0.0)
    world.add("t", DELETE)
    assert "Not run yet" in text(await guard.call(ACME, "t", {}))
    assert await guard.approvals.answer(1, yes())
    for principal in (OTHER, NONE):
        assert "Not run yet" in text(await guard.call(principal, "t", {}))
    assert "isError" not in await guard.call(ACME, "t", {})


async def test_a_standing_answer_of_one_tenant_does_not_serve_another(world: World) -> None:
    guard = world.timed(patience=0.0)
    world.add("t", DELETE)
    await guard.call(ACME, "t", {})
    assert await guard.approvals.answer(1, yes(span=Span.SESSION))
    for number in (1, 2):
        assert "isError" not in await guard.call(ACME, "t", {"customer_id": number})
    for principal in (OTHER, NONE):
        assert "Not run yet" in text(await guard.call(principal, "t", {"customer_id": 1}))


async def test_limits_and_open_questions_are_counted_by_tenant(world: World) -> None:
    world.rule("[limits]\ncalls_per_minute = 1\n[approvals]\nopen_per_caller = 1\n")
    guard = world.timed(patience=0.0)
    world.add("r", READ)
    world.add("t", DELETE)
    for principal in (ACME, OTHER):
        assert "isError" not in await guard.call(principal, "r", {})
        assert "is reached" in text(await guard.call(principal, "r", {}))
    world.clock.now += 61
    for principal in (ACME, OTHER):
        assert "Not run yet" in text(await guard.call(principal, "t", {"customer_id": 1}))
        assert "wait for an answer" in text(await guard.call(principal, "t", {"customer_id": 2}))


async def test_what_was_done_in_one_tenant_is_not_looked_back_on_in_another(world: World) -> None:
    world.rule(
        '[[rules]]\nname = "r"\neffect = "confirm"\n'
        'when = { level = "write", after = { tool = "web", of = "principal" } }'
    )
    guard = world.timed(patience=0.0)
    world.add("web", READ)
    world.add("t", WRITE)
    await guard.call(ACME, "web", {})
    assert "isError" not in await guard.call(OTHER, "t", {})
    assert "Not run yet" in text(await guard.call(ACME, "t", {}))


async def test_a_key_of_one_tenant_gives_another_no_answer(world: World) -> None:
    guard = world.timed(patience=0.0)
    world.add("t", WRITE)
    for principal in (ACME, OTHER, ACME):
        assert "isError" not in await guard.call(principal, "t", {}, meta={META_KEY: "k"})
    assert [call.principal.tenant for call in world.ran] == ["acme", "other/acme"]


@pytest.mark.parametrize(
    "condition", ['tenant = "acme"', 'tenant = ["x", "ac*"]', "expression = 'tenant == \"acme\"'"]
)
async def test_rules_see_the_tenant_and_the_record_holds_it(world: World, condition: str) -> None:
    if condition.startswith("expression"):
        pytest.importorskip("cel_expr_python")
    world.rule(f'[[rules]]\nname = "r"\neffect = "deny"\nwhen = {{ {condition} }}')
    guard = world.timed()
    world.add("t", READ)
    assert "does not allow" in text(await guard.call(ACME, "t", {}))
    for principal in (OTHER, NONE):
        assert "isError" not in await guard.call(principal, "t", {})
    rows = [json.loads(row.payload or "{}") for row in await world.store.records.newest()]
    assert {row.get("tenant") for row in rows} == {"acme", "other/acme", None}
    assert {row["subject"] for row in rows} == {"amy"}


async def test_erasing_a_person_takes_what_they_did_in_each_tenant(world: World) -> None:
    guard = world.timed(patience=0.0)
    world.add("t", WRITE)
    world.add("d", DELETE)
    for principal in (ACME, OTHER, NONE):
        await guard.call(principal, "t", {})
        await guard.call(principal, "d", {})
    async with open_audit(world.store, KEYS) as log:
        await erase_subject(log, "amy")
        rows = await world.store.dump()
        assert (rows["uses"], rows["ticks"], rows["conversations"]) == ([], [], [])
        assert await world.store.questions.newest(now=world.clock.now) == []
