"""Whatever can be called can be a tool, and gets what its framework gives it."""

import dataclasses
import datetime as dt
import enum
import functools
import json
import uuid
from decimal import Decimal
from typing import Any, cast

import mcp_types as types
import pytest
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.dependencies import Depends
from mcp.server import MCPServer
from mcp.server.mcpserver import Context as OfficialContext
from pydantic import BaseModel, field_validator
from tests.serve.serving import ERAS, KINDS, YES, Studio, make, offer, outcomes, text

import sayso
from sayso.serve import ToolDefinition, Tools
from sayso.serve.values import to_json

pytestmark = pytest.mark.anyio


@dataclasses.dataclass
class Sum:
    """A result."""

    total: int


class Adding:
    """Adds."""

    def __call__(self, a: int, b: int) -> Sum:
        return Sum(a + b)

    def method(self, a: int, b: int) -> Sum:
        return Sum(a + b)

    async def eventual(self, a: int, b: int) -> Sum:
        return Sum(a + b)

    @staticmethod
    def static(a: int, b: int) -> Sum:
        return Sum(a + b)

    @classmethod
    def of_class(cls, a: int, b: int) -> Sum:
        return Sum(a + b)


class AddingEventually:
    """Adds, in a coroutine."""

    async def __call__(self, a: int, b: int) -> Sum:
        return Sum(a + b)


def add(a: int, b: int, c: int = 0) -> Sum:
    """Add two numbers."""
    return Sum(a + b + c)


def add_eventually(a: int, b: int) -> Any:
    """A plain function that gives a coroutine."""
    return AddingEventually()(a, b)


CALLABLE: dict[str, Any] = {
    "function": add,
    "object": Adding(),
    "eventual_object": AddingEventually(),
    "method": Adding().method,
    "eventual_method": Adding().eventual,
    "static": Adding.static,
    "of_class": Adding.of_class,
    "partial": functools.partial(add, c=0),
    "partial_method": functools.partial(Adding().eventual),
    "gives_a_coroutine": add_eventually,
    "a_lambda": cast("Any", lambda a, b: Sum(int(a) + int(b))),  # pyright: ignore[reportUnknownLambdaType] - without types
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_whatever_can_be_called_can_be_a_tool(kind: str, era: str) -> None:
    def declare(tools: Tools, _: Studio) -> None:
        for name, function in CALLABLE.items():
            assert tools.tool(sayso.READ_ONLY, name=name)(function) is function

    async with offer(kind, declare=declare).client(era) as caller:
        listed = {one.name: one for one in (await caller.client.list_tools()).tools}
        for name in CALLABLE:
            wants_text = "string" in json.dumps(listed[name].input_schema)
            given = {"a": "3", "b": "4"} if wants_text else {"a": 3, "b": 4}
            result = await caller.call(name, given)
            assert not result.is_error, (name, text(result))
            assert result.structured_content == {"total": 7}, name
    assert listed["function"].description == "Add two numbers."


async def test_the_official_context_reaches_a_declared_tool() -> None:
    server = MCPServer("studio")

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.DELETE)
        async def customer_delete(customer_id: int, ctx: OfficialContext) -> str:  # type: ignore[type-arg]
            return f"{customer_id} {bool(ctx.request_id)} {sayso.context().approval}"

    async with offer("MCPServer", server=server, declare=declare).client(answer=YES) as caller:
        (listed,) = (await caller.client.list_tools()).tools
        assert list(listed.input_schema["properties"]) == ["customer_id"]
        assert text(await caller.call("customer_delete", {"customer_id": 2})) == "2 True 1"


async def test_fastmcps_context_and_dependencies_reach_a_declared_tool() -> None:
    server = FastMCP("studio")

    def register() -> str:
        return "register"

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.READ_ONLY)
        async def customer_get(
            customer_id: int,
            ctx: FastContext,
            kept: str = Depends(register),
        ) -> str:
            return f"{customer_id} {ctx.fastmcp.name} {kept}"

    async with offer("FastMCP", server=server, declare=declare).client() as caller:
        (listed,) = (await caller.client.list_tools()).tools
        assert list(listed.input_schema["properties"]) == ["customer_id"]
        assert text(await caller.call("customer_get", {"customer_id": 2})) == "2 studio register"


@pytest.mark.parametrize("is_below", [True, False])
@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_what_is_declared_where_it_is_registered_counts_in_either_order(
    kind: str, *, is_below: bool
) -> None:
    server = make(kind)

    def customer_get(customer_id: int) -> str:
        """Get a customer."""
        return f"customer {customer_id}"

    declared = sayso.declare(sayso.READ_ONLY, title="One customer", tags={"a"})
    if is_below:
        server.tool()(declared(customer_get))
    else:
        server.tool()(customer_get)
        declared(customer_get)
    offered = offer(kind, server=server, declare=lambda _tools, _studio: None)
    async with offered.client() as caller:
        (listed,) = (await caller.client.list_tools()).tools
        result = await caller.call("customer_get", {"customer_id": 2})
        more = await caller.call("customer_get", {"customer_id": 2, "limit": 7})
    assert (listed.title, listed.annotations.read_only_hint) == ("One customer", True)
    assert listed.meta["io.sayso/intent"]["tags"] == ["a"]
    assert text(result) == "customer 2"
    assert text(more).startswith("Nothing was run")
    assert customer_get(1) == "customer 1"


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_what_is_declared_runs_without_sayso_too(kind: str) -> None:
    from mcp import Client
    from tests.serve.serving import inside

    server = make(kind)

    @server.tool()
    @sayso.declare(sayso.READ_ONLY)
    def customer_get(customer_id: int) -> str:
        return f"customer {customer_id}"

    async with Client(inside(server)) as client:
        assert text(await client.call_tool("customer_get", {"customer_id": 1})) == "customer 1"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_result_that_the_author_has_made_is_left_as_it_is(kind: str) -> None:
    picture = types.ImageContent(type="image", data="aGk=", mime_type="image/png")
    made = types.CallToolResult(content=[picture, types.TextContent(type="text", text="a cat")])

    def declare(tools: Tools, _: Studio) -> None:
        tools.add(name="as_data", intent=sayso.READ_ONLY, execute=lambda _ctx, _given: made)
        tools.add(
            name="in_error",
            intent=sayso.READ_ONLY,
            execute=lambda ctx, _: ctx.error("there is no cat"),
        )
        tools.add(
            name="with_more",
            intent=sayso.READ_ONLY,
            execute=lambda ctx, _: {**ctx.json({"a": 1}), "_meta": {"x": 1}},
        )
        if kind == "FastMCP":
            tools.tool(sayso.READ_ONLY, name="typed")(lambda: picture)
        else:

            @tools.tool(sayso.READ_ONLY)
            def typed() -> types.CallToolResult:
                return made

    async with offer(kind, declare=declare).client() as caller:
        for name in ("as_data", "typed"):
            result = await caller.call(name)
            assert result.content[0] == picture
            assert result.structured_content is None
        assert (await caller.call("in_error")).is_error
        assert (await caller.call("with_more")).structured_content == {"a": 1}


@pytest.mark.parametrize("kind", KINDS)
async def test_arguments_that_only_a_type_can_refuse_are_told_to_the_caller(kind: str) -> None:
    class Order(BaseModel):
        amount: int

        @field_validator("amount")
        @classmethod
        def even(cls, amount: int) -> int:
            if amount % 2:
                raise ValueError("an odd amount")
            return amount

    ran: list[int] = []

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.WRITE)
        def order(order: Order) -> None:
            ran.append(order.amount)

    offered = offer(kind, declare=declare)
    async with offered.client() as caller:
        result = await caller.call("order", {"order": {"amount": 3}})
        assert not (await caller.call("order", {"order": {"amount": 4}})).is_error
    assert result.is_error
    assert "an odd amount" in text(result)
    assert ran == [4]
    assert await outcomes(offered.url) == ["tool_error", "ok"]


@pytest.mark.parametrize("kind", KINDS)
async def test_titles_come_from_names_and_can_be_said(kind: str) -> None:
    def declare(tools: Tools, _: Studio) -> None:
        made = (
            tools.group(category="a", tags={"x"}, roles=set())
            .group(tags={"y"})
            .add(name="invoice_send", intent=sayso.SEND, execute=lambda _ctx, _given: None)
            .add(
                name="b",
                intent=sayso.READ_ONLY,
                title="Something else",
                category="b",
                execute=lambda _ctx, _given: "text",
            )
        )
        assert [one.title for one in made.definitions] == ["Send invoice", "Something else"]
        send, other = made.definitions
        assert (send.category, other.category) == ("a", "b")
        assert send.tags == ("x", "y")
        hints = (send.destructive_hint, send.open_world_hint, send.idempotent_hint)
        assert hints == (True, True, False)
        assert other.read_only_hint

    async with offer(kind, declare=declare).client() as caller:
        found = {one.name: one.title for one in (await caller.client.list_tools()).tools}
        assert found == {"invoice_send": "Send invoice", "b": "Something else"}
        assert text(await caller.call("b")) == "text"


def test_a_definition_is_the_same_on_the_wire_of_each_version() -> None:
    made = ToolDefinition("customer_get", sayso.READ_ONLY, output_schema={"type": "object"})
    assert made.to_mcp_schema()["annotations"]["readOnlyHint"] is True
    assert "title" not in made.to_mcp_schema("2025-03-26")
    assert "annotations" not in made.to_mcp_schema("2024-11-05")


class Colour(enum.Enum):
    """One of two."""

    RED = "red"


def test_what_is_natural_in_python_is_json() -> None:
    at = dt.datetime(2026, 7, 28, 12, tzinfo=dt.UTC)
    one = uuid.UUID(int=1)
    given = {"at": at, "id": one, "price": Decimal("1.50"), "colour": Colour.RED, "t": dt.time(9)}
    assert to_json([given, Sum(3), (1, True, None)]) == [
        {"at": at.isoformat(), "id": str(one), "price": "1.50", "colour": "red", "t": "09:00:00"},
        {"total": 3},
        [1, True, None],
    ]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_low_level_handler_beside_the_declared_tools_keeps_its_own(kind: str) -> None:
    if kind != "Server":
        pytest.skip("a handler of one's own is the low-level server's")
    from mcp.server.lowlevel import Server

    read = types.ToolAnnotations(read_only_hint=True)
    pages = {None: ("a", "2"), "2": ("b", None)}

    async def listed(_: Any, params: Any) -> types.ListToolsResult:
        name, cursor = pages[params.cursor if params else None]
        tool = types.Tool(name=name, input_schema={"type": "object"}, annotations=read)
        return types.ListToolsResult(tools=[tool], next_cursor=cursor)

    async def call(_: Any, params: Any) -> types.CallToolResult:
        block = types.TextContent(type="text", text=f"handled {params.name}")
        return types.CallToolResult(content=[block])

    server = Server[Any]("own", on_list_tools=listed, on_call_tool=call)
    async with offer(kind, server=server).client() as caller:
        assert len(await caller.names()) == 6
        assert text(await caller.call("b")) == "handled b"
        assert (await caller.call("customer_get", {"customer_id": 1})).structured_content
