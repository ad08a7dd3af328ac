"""`avow.Result`: a text of the author's own beside the structured content."""

from typing import Any, cast

import pytest
from mcp import Client
from pydantic import BaseModel
from tests.serve.serving import KINDS, inside, make

import avow
from avow.errors import UsageError

pytestmark = pytest.mark.anyio


class Count(BaseModel):
    total: int


def declared(kind: str) -> Any:
    server = make(kind)
    tools = avow.bind(server, store="temporary", principal=avow.Principal("amy"))

    @tools.tool(avow.READ_ONLY)
    def typed() -> avow.Result[Count]:
        return avow.Result(Count(total=3), text="Three notes.")

    @tools.tool(avow.READ_ONLY)
    async def listed() -> avow.Result[list[str]]:
        return avow.Result(["a", "b"], text="Two names: a, b.")

    @tools.tool(avow.READ_ONLY)
    def paged() -> avow.Result[avow.Page[str]]:
        return avow.Result(avow.Page(["a"], None, 1), text="One name.")

    @tools.tool(avow.READ_ONLY)
    def untyped() -> avow.Result:  # pyright: ignore[reportMissingTypeArgument, reportUnknownParameterType] - as an author may write it
        return avow.Result("a", text="One.")

    @tools.tool(avow.READ_ONLY)
    def wrong() -> avow.Result[Count]:
        return avow.Result(cast("Any", {"total": "many"}), text="Many notes.")

    @tools.tool(avow.READ_ONLY)
    def unsayable() -> avow.Result[Any]:
        return avow.Result(object(), text="What is this?")

    def added(_ctx: Any, _given: Any) -> Any:
        return avow.Result({"total": 3}, text="Three notes.")

    tools.add(
        name="added",
        intent=avow.READ_ONLY,
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
    with pytest.raises(UsageError, match="text must be a text, not 7"):
        avow.Result({}, text=cast("Any", 7))


async def test_outside_of_a_call_the_function_gives_the_data() -> None:
    server = make("MCPServer")
    avow.bind(server, store="temporary", principal=avow.Principal("amy"))

    @avow.declare(avow.READ_ONLY)
    def typed() -> avow.Result[Count]:
        return avow.Result(Count(total=3), text="Three notes.")

    assert await cast("Any", typed)() == Count(total=3)
