"""Large arguments are digested and shown by a worker; what is sent stays whole."""

import json
from typing import Any

import pytest
from tests.guard.world import World, text, while_waiting, yes
from tests.sample_tools import AMY, DELETE, READ

from sayso.guard import large_arguments
from sayso.schema import MASK, digest_exactly
from sayso.schema.bounds import MAX_EXCERPT_CHARACTERS, excerpt
from sayso.workers.pool import packed, running_pool

pytestmark = pytest.mark.anyio

ITEMS: dict[str, Any] = {"items": list(range(50_000))}
TOKENS: dict[str, Any] = {"text": "eyJ." * 100_000}


async def test_a_large_call_is_shown_in_excerpt_bound_by_its_digest_and_sent_whole(
    world: World,
) -> None:
    guard = world.timed(patience=30.0)
    name = world.add("remove", DELETE)

    async def allow() -> None:
        approval = await guard.approvals.find(1)
        assert approval is not None
        shown = approval.question.arguments["items"]
        assert shown[:3] == [0, 1, 2]
        assert shown[-1] == f"{MASK} ({50_000 - len(shown) + 1:,} more items)"
        assert approval.question.arguments_digest == digest_exactly(ITEMS)
        await guard.approvals.answer(1, yes())

    answer = await while_waiting(guard, name, allow, arguments=ITEMS)
    assert text(answer) == "done"
    assert world.ran[0].arguments == ITEMS
    assert len(json.dumps((await world.line("attempt"))["arguments"])) < 2 * MAX_EXCERPT_CHARACTERS
    assert (await world.line("attempt"))["arguments_digest"] == digest_exactly(ITEMS)


@pytest.mark.parametrize("arguments", [ITEMS, TOKENS], ids=["items", "text"])
async def test_no_step_looks_through_large_arguments_in_the_event_loop(
    world: World, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any]
) -> None:
    def small(value: Any) -> Any:
        assert len(str(value)) < 2 * MAX_EXCERPT_CHARACTERS
        return value

    import sayso.approvals.question
    import sayso.audit.record
    import sayso.guard.call

    for module in (sayso.approvals.question, sayso.audit.record):
        monkeypatch.setattr(module, "redact", small)
    for module in (sayso.guard.call, sayso.guard.large_arguments):
        monkeypatch.setattr(module, "digest_exactly", small)
    guard = world.timed()
    assert "Not run yet" in text(await guard.call(AMY, world.add("remove", DELETE), arguments))
    assert text(await guard.call(AMY, world.add("get", READ), arguments)) == "done"


def test_large_extras_are_shown_in_excerpt_and_still_told_apart() -> None:
    wholes = ({"arguments": {}, "_meta": {"a": [0] * 9_000 + [last]}} for last in (1, 2))
    found = [list(large_arguments.prepare_job(packed(whole), has_extras=True)) for whole in wholes]
    first, second = (json.loads(one[-1])["extras"] for one in found)
    assert first["_meta"] == second["_meta"]
    assert first != second


async def test_large_arguments_that_are_not_json_are_refused(world: World) -> None:
    name = world.add("get", READ)
    answer = await world.guard().call(AMY, name, {"a": [float("nan")] * 9_000})
    assert "Nothing was run: the arguments cannot be sent as JSON" in text(answer)
    assert await world.log() == [("refused", "bad_arguments")]


async def test_small_arguments_need_no_worker(world: World) -> None:
    await world.guard().call(AMY, world.add("get", READ), {"text": "hello"})
    assert running_pool().idle == 0


async def test_a_digest_of_any_size_is_the_same() -> None:
    assert await large_arguments.digest_of(ITEMS, "amy") == digest_exactly(ITEMS)
    assert await large_arguments.digest_of({"a": 1}, "amy") == digest_exactly({"a": 1})


def test_an_excerpt_says_what_it_leaves_out() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = [deep, 2]
    value = {"deep": deep, "text": "x" * 10_000, "many": {f"k{at}": at for at in range(500)}}
    told = excerpt(value)
    assert told["text"] == f"{'x' * 4_096}{MASK} (5,904 more characters)"
    assert told["many"][MASK] == "300 more fields"
    assert "more items" in json.dumps(told["deep"])
    assert excerpt({"a": [1, {"b": None}], "c": "d"}) == {"a": [1, {"b": None}], "c": "d"}


def test_an_excerpt_is_bounded_whatever_it_is_of() -> None:
    for value in ({"k" * 100_000: 1}, {str(at): "y" * 5_000 for at in range(9_000)}):
        assert len(json.dumps(excerpt(value))) < 2 * MAX_EXCERPT_CHARACTERS + 10_000
