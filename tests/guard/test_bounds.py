"""No arguments and no result hold up the gateway, whatever the schemas say."""

import asyncio
import json
import logging
from typing import Any

import msgspec
import pytest
from tests.guard.world import World, text
from tests.sample_tools import AMY, READ
from tests.workers.schemas import FILTER, FITTING, condition, doubling, nested

from sayso.guard import result_jobs, schemas
from sayso.guard.call import Answer
from sayso.guard.schemas import schemas_of
from sayso.workers import checker
from sayso.workers.pool import packed, running_pool

pytestmark = pytest.mark.anyio

ROW = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["id"],
}
"""The schema of a result that nests: a tree of folders."""


async def test_arguments_of_a_recursive_schema_that_fit_go_on(world: World) -> None:
    name = world.add("search", READ, inputSchema=FILTER)
    answer = await world.guard().call(AMY, name, FITTING)
    assert text(answer) == "done"
    assert running_pool().idle == 1


@pytest.mark.parametrize("depth", [1, 12])
async def test_arguments_of_a_recursive_schema_that_do_not_fit_are_refused_with_their_place(
    world: World, depth: int
) -> None:
    name = world.add("search", READ, inputSchema=FILTER)
    answer = await world.guard().call(AMY, name, nested(depth, "x"))
    assert "Nothing was run: these arguments do not fit the tool.\n- filter" in text(answer)
    assert await world.log() == [("refused", "bad_arguments")]


async def test_arguments_that_cannot_be_checked_in_time_are_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "CHECK_SECONDS", 0.5)
    name = world.add("search", READ, inputSchema=doubling())
    answer = await world.guard().call(AMY, name, {})
    assert text(answer).startswith("Nothing was run: these arguments cannot be checked")
    assert world.ran == []
    assert await world.log() == [("refused", "bad_arguments")]


async def test_another_caller_goes_on_while_a_check_takes_its_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "CHECK_SECONDS", 2.0)
    slow, quick = (
        world.add("slow", READ, inputSchema=doubling()),
        world.add("quick", READ, inputSchema=FILTER),
    )
    guard = world.guard()
    running_pool()
    held = asyncio.ensure_future(guard.call(AMY, slow, {}))
    while not running_pool().busy:
        await asyncio.sleep(0)
    other = type(AMY)("bob", "cli", frozenset())
    assert text(await guard.call(other, quick, {"filter": condition()})) == "done"
    assert not held.done()
    assert "cannot be checked" in text(await held)


def answering(world: World, value: Any) -> World:
    async def run(call: Any) -> Answer:
        call.is_sent = True
        block = {"type": "text", "text": json.dumps(value)}
        return {"content": [block], "structuredContent": value}

    world.run = run  # pyright: ignore[reportAttributeAccessIssue] - a seam
    return world


@pytest.mark.parametrize(
    ("value", "structured"),
    [
        ({"id": 1, "children": [{"id": 2}]}, {"id": 1, "children": [{"id": 2}]}),
        (
            {"id": 1, "secret": "x", "children": [{"id": 2, "secret": "y"}]},
            {"id": 1, "children": [{"id": 2}]},
        ),
        ({"id": "x"}, None),
    ],
)
async def test_a_result_of_a_recursive_schema_is_stripped_or_withheld_as_any_other(
    world: World, value: Any, structured: Any
) -> None:
    name = world.add("tree", READ, outputSchema=TREE)
    answer = await answering(world, value).guard().call(AMY, name, {})
    assert answer.get("structuredContent") == structured
    if structured is None:
        assert "withheld" in text(answer)
    else:
        assert json.loads(text(answer)) == structured


async def test_a_result_that_cannot_be_checked_in_time_is_withheld(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(result_jobs, "SHAPE_SECONDS", 1.0)
    name = world.add("tree", READ, outputSchema=doubling())
    with caplog.at_level(logging.WARNING):
        answer = await answering(world, {"id": 1}).guard().call(AMY, name, {})
    assert "withheld" in text(answer)
    assert "cannot be checked in time" in caplog.text


async def test_a_large_result_is_cut_in_a_worker_as_it_would_be_here(world: World) -> None:
    rows = {"rows": [{"id": at, "note": "n" * 20} for at in range(20_000)]}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": ROW}}}
    name = world.add("rows", READ, outputSchema=schema)
    answer = await answering(world, rows).guard().call(AMY, name, {})
    assert running_pool().idle == 1
    kept = answer["structuredContent"]["rows"]
    assert kept[0] == {"id": 0}
    assert len(json.dumps(kept)) < 30_000
    assert f"Showing the first {len(kept)} of 20000" in answer["content"][-1]["text"]


async def test_a_large_text_without_a_schema_is_looked_at_in_a_worker(world: World) -> None:
    name = world.add("rows", READ)
    answer = await answering(world, ["x" * 50] * 20_000).guard().call(AMY, name, {})
    assert running_pool().idle == 1
    assert answer["_meta"] == {"truncated": True}


async def test_a_small_result_of_an_ordinary_schema_needs_no_worker(world: World) -> None:
    name = world.add("row", READ, outputSchema=ROW)
    answer = await answering(world, {"id": 1, "more": 2}).guard().call(AMY, name, {})
    assert answer["structuredContent"] == {"id": 1}
    assert running_pool().idle == 0


async def test_what_was_read_of_a_result_is_still_read_after_a_worker_cut_it() -> None:
    rows = msgspec.json.encode({"rows": [{"id": at} for at in range(9_000)]})
    blocks = msgspec.json.encode([{"type": "text", "text": rows.decode()}])
    members = {"content": msgspec.Raw(blocks), "structuredContent": msgspec.Raw(rows)}
    answer: Answer = {**members, "isError": False, "_meta": {"a": 1}}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": ROW}}}
    told, problems = await result_jobs.reshaped(answer, schemas_of(schema), 25_000, "amy")
    assert problems == ()
    assert {key: type(one) for key, one in told.items()} == {
        "content": msgspec.Raw,
        "structuredContent": msgspec.Raw,
        "isError": bool,
        "_meta": dict,
    }
    assert told["_meta"] == {"a": 1, "truncated": True}


def test_the_job_says_what_became_of_a_result() -> None:
    def told(schema: Any, answer: Any, raw: dict[str, bytes] | None = None) -> list[bytes]:
        return list(result_jobs.shape_job(raw or {}, packed(answer), packed(schema), 25_000))

    assert told(ROW, {"structuredContent": {"id": 1}, "content": []}) == [b"same"]
    assert told(ROW, {"structuredContent": {"id": "x"}})[0] == b"broken"
    assert told(None, {}, {"content": b"[]"}) == [b"same"]
    assert told(ROW, {}, {"structuredContent": b'{"id":', "content": b"[]"}) == [b"unreadable"]
    word, changed = told(ROW, {"structuredContent": {"id": 1, "x": 2}, "content": []})
    assert word == b"changed"
    assert json.loads(changed)["structuredContent"] == {"id": 1}


def test_nothing_is_compiled_here_of_a_schema_without_a_bound() -> None:
    tool = World.__new__(World)
    tool.tools = {}
    tool.add("t", READ, outputSchema=doubling())
    found = schemas.SchemaCache().of(tool.tools["t"])
    assert (found.is_local, found.result, found.stripper) == (False, None, None)
    assert schemas_of(ROW).result is not None
