"""`sayso.Result`: a text of the author's own beside the structured content."""

from typing import Any, cast

import pytest
from mcp import Client
from pydantic import BaseModel
from tests.serve.serving import KINDS, inside, make

import sayso
from sayso.errors import UsageError

pytestmark = pytest.mark.anyio


class Count(BaseModel):
    total: int


def declared(kind: str) -> Any:
    server = make(kind)
    tools = sayso.bind(server, store="temporary", principal=sayso.Principal("amy"))

    @tools.tool(sayso.READ_ONLY)
    def typed() -> sayso.Result[Count]:
        return sayso.Result(Count(total=3), text="Three notes.")

    @tools.tool(sayso.READ_ONLY)
    async def listed() -> sayso.Result[list[str]]:
        return sayso.Result(["a", "b"], text="Two names: a, b.")

    @tools.tool(sayso.READ_ONLY)
    def paged() -> sayso.Result[sayso.Page[str]]:
        return sayso.Result(sayso.Page(["a"], None, 1), text="One name.")

    @tools.tool(sayso.READ_ONLY)
    def untyped() -> sayso.Result:  # pyright: ignore[reportMissingTypeArgument, reportUnknownParameterType] - as an author may write it
        return sayso.Result("a", text="One.")

    @tools.tool(sayso.READ_ONLY)
    def wrong() -> sayso.Result[Count]:
        return sayso.Result(cast("Any", {"total": "many"}), text="Many notes.")

    @tools.tool(sayso.READ_ONLY)
    def unsayable() -> sayso.Result[Any]:
        return sayso.Result(object(), text="What is this?")

    def added(_ctx: Any, _given: Any) -> Any:
        return sayso.Result({"total": 3}, text="Three notes.")

    tools.add(
        name="added",
        intent=sayso.READ_ONLY,
        execute=added,
    )
    return server


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "structured", "text"),
    [
        ("typed", {"total": 3}, "Three notes."),
        ("added", {"total": 3}, "Three notes."),
        ("listed", {"result": ["a", "b"]}, "Two names: a, b."),
        ("paged", {"items": ["a"], "total": 1}, "One name."),
        ("untyped", {"result": "a"}, "One."),
    ],
)
async def test_both_reach_the_client(kind: str, name: str, structured: Any, text: str) -> None:
    async with Client(inside(declared(kind))) as client:
        answer = await client.call_tool(name, {})
    assert not answer.is_error
    assert structured.items() <= answer.structured_content.items()
    assert [cast("Any", one).text for one in answer.content] == [text]


@pytest.mark.parametrize("kind", KINDS)
async def test_the_schema_is_that_of_the_data_and_holds_it(kind: str) -> None:
    async with Client(inside(declared(kind))) as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        wrong = await client.call_tool("wrong", {})
        unsayable = await client.call_tool("unsayable", {})
    assert set(cast("Any", tools["typed"].output_schema)["properties"]) == {"total"}
    assert wrong.is_error
    assert unsayable.is_error
    assert "Many notes" not in str(wrong.content)


def test_a_text_that_is_none_is_refused_where_it_is_made() -> None:
    with pytest.raises(UsageError, match="text must be a string, got 7"):
        sayso.Result({}, text=cast("Any", 7))


async def test_outside_of_a_call_the_function_gives_the_data() -> None:
    server = make("MCPServer")
    sayso.bind(server, store="temporary", principal=sayso.Principal("amy"))

    @sayso.declare(sayso.READ_ONLY)
    def typed() -> sayso.Result[Count]:
        return sayso.Result(Count(total=3), text="Three notes.")

    assert await cast("Any", typed)() == Count(total=3)
