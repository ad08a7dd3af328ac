"""One definition on each framework, over each transport, in both eras: the same to a client."""

import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from tests.serve.serving import (
    AWAY,
    ERAS,
    KINDS,
    NO,
    NOT,
    YES,
    Caller,
    lines,
    offer,
    outcomes,
    reached,
    text,
)
from tests.warm import Warm

from sayso.approvals import Answer

pytestmark = pytest.mark.anyio

EVERYWHERE = [
    (kind, era, transport)
    for kind in KINDS
    for era in ERAS
    for transport in ("memory", "http", "stdio")
]


@pytest.mark.parametrize(("kind", "era", "transport"), EVERYWHERE)
@pytest.mark.process
async def test_the_same_tools_do_the_same_everywhere(
    kind: str, era: str, transport: str, tmp_path: Path, frameworks: Warm
) -> None:
    async with reached(kind, era, transport, tmp_path, python=frameworks, answer=YES) as caller:
        assert await caller.names() == [
            "customer_delete",
            "customer_get",
            "customer_list",
            "customer_write",
        ]
        found = await caller.call("customer_get", {"customer_id": 1})
        assert found.structured_content == {"id": 1, "name": "customer 1"}
        assert json.loads(text(found)) == found.structured_content
        deleted = await caller.call("customer_delete", {"customer_id": 2})
        assert not deleted.is_error, text(deleted)
        assert text(deleted) == "deleted customer 2"
        with pytest.raises(MCPError, match="Unknown tool: nothing"):
            await caller.call("nothing")
    assert len(caller.asked) == 1
    assert "Delete customer 2 for good?" in caller.asked[0]
    assert "delete customer 2" in caller.asked[0]
    assert [one for one in await outcomes(f"sqlite:{tmp_path / 'sayso.db'}") if one == "ok"] == [
        "ok",
        "ok",
    ]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_the_list_says_all_hints_and_titles(kind: str, era: str) -> None:
    async with offer(kind).client(era) as caller:
        found = {one.name: one for one in (await caller.client.list_tools()).tools}
    delete = found["customer_delete"]
    assert delete.annotations is not None
    assert delete.annotations.model_dump() == {
        "title": "Delete customer",
        "read_only_hint": False,
        "destructive_hint": True,
        "idempotent_hint": False,
        "open_world_hint": False,
    }
    assert delete.title == "Delete customer"
    assert delete.meta is not None
    assert delete.meta["io.sayso/intent"]["category"] == "customers"
    assert delete.description == "Delete a customer."
    assert found["customer_get"].annotations.read_only_hint is True
    schemas = [one.input_schema["additionalProperties"] for one in found.values()]
    assert schemas == [False] * 4


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_page_is_the_same_object_on_all_frameworks(kind: str, era: str) -> None:
    async with offer(kind).client(era) as caller:
        first = await caller.call("customer_list")
        last = await caller.call("customer_list", {"cursor": "4"})
    assert first.structured_content == {
        "items": [{"id": 1, "name": "customer 1"}, {"id": 2, "name": "customer 2"}],
        "next_cursor": "2",
        "total": 5,
    }
    assert json.loads(text(first)) == first.structured_content
    assert last.structured_content is not None
    assert last.structured_content["next_cursor"] is None


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_arguments_that_do_not_fit_do_not_reach_the_function(kind: str, era: str) -> None:
    offered = offer(kind)
    async with offered.client(era, YES) as caller:
        for name, given in (
            ("customer_delete", {"customer_id": "2"}),
            ("customer_delete", {"customer_id": 2, "confirm": True}),
            ("customer_delete", {}),
            ("customer_write", {"id": 1, "name": "x", "role": "admin"}),
        ):
            result = await caller.call(name, given)
            assert result.is_error
            assert text(result).startswith("Nothing was run")
    assert offered.studio.done == []
    assert caller.asked == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", [NO, NOT, AWAY, None])
async def test_without_a_yes_nothing_runs(
    kind: str, era: str, answer: types.ElicitResult | None
) -> None:
    offered = offer(kind)
    async with offered.client(era, answer) as caller:
        result = await caller.call("customer_delete", {"customer_id": 2})
    assert result.is_error
    assert offered.studio.done == []
    told = text(result)
    if answer is None:
        assert "no person can be asked" in told
        assert "there is no console and no other channel" in told
    elif answer is AWAY:
        assert "approval 1" in told
    else:
        assert "A person denied this call" in told


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_without_elicitation_the_error_says_where_and_the_repeated_call_runs(
    kind: str, era: str
) -> None:
    offered = offer(kind, console="http://127.0.0.1:1/console/", patience=0.05)
    async with offered.client(era) as caller:
        first = await caller.call("customer_delete", {"customer_id": 2})
        assert "http://127.0.0.1:1/console/" in text(first)
        said = Answer(is_allowed=True, by="bea", channel="console")
        assert await offered.tools.approvals.answer(1, said)
        second = await caller.call("customer_delete", {"customer_id": 2})
        third = await caller.call("customer_delete", {"customer_id": 3})
    assert first.is_error
    assert text(second) == "deleted customer 2"
    assert third.is_error
    assert offered.studio.done == ["delete 2"]


async def test_who_called_and_what_was_approved_is_on_record() -> None:
    offered = offer("MCPServer")
    async with offered.client(answer=YES) as caller:
        await caller.call("customer_delete", {"customer_id": 2})
    said = await lines(offered.url)
    last: dict[str, Any] = said[-1]
    assert (last["event"], last["outcome"], last["channel"]) == ("outcome", "ok", "elicitation")
    assert last["subject"] == "amy"
    assert last["plan"]
    assert isinstance(caller, Caller)
