"""Only the function that was decided about is entered, whatever a caller sends."""

from collections.abc import Mapping
from typing import Any, cast

import mcp_types as types
import pytest
from mcp import Client
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context as OfficialContext
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel
from tests.guard.world import yes
from tests.serve.serving import inside, text

import sayso
from sayso.policy import LOCAL, Principal, load_policy
from sayso.serve import Tools

fastmcp = pytest.importorskip("fastmcp")
pytestmark = pytest.mark.anyio

READ = {"readOnlyHint": True, "openWorldHint": False}
DESTROY = {"readOnlyHint": False, "destructiveHint": True}
VERSION_1 = {"fastmcp": {"version": "1.0"}}
FORWARD = 'forward_meta = ["tenant"]\n[approvals]\nchannels = ["console"]\n'


class Ran(list[str]):
    """The functions that ran, in order."""


def versioned(ran: Ran) -> Any:
    """A FastMCP server whose listed version reads, and whose older version destroys."""
    server: Any = fastmcp.FastMCP("shop")

    def old(number: int) -> str:
        ran.append("destroyed")
        return f"destroyed {number}"

    def new(number: int) -> str:
        ran.append("read")
        return f"read {number}"

    server.tool(old, name="item", version="1.0", annotations=DESTROY)
    server.tool(new, name="item", version="2.0", annotations=READ)
    return server


async def call(
    server: Any,
    name: str,
    arguments: Mapping[str, Any],
    meta: Mapping[str, Any] | None = None,
) -> Any:
    async with Client(inside(server)) as client:
        return await client.session.call_tool(name, dict(arguments), meta=cast("Any", meta))


@pytest.mark.parametrize("kind", ["itself", "mounted", "proxied"])
async def test_a_version_that_a_caller_names_is_not_entered_in_place_of_the_listed_one(
    kind: str,
) -> None:
    ran = Ran()
    server = versioned(ran)
    if kind == "mounted":
        outer: Any = fastmcp.FastMCP("outer")
        outer.mount(server)
        server = outer
    elif kind == "proxied":
        from fastmcp.server import create_proxy

        server = create_proxy(server)
    sayso.bind(server, store="temporary", principal=Principal(LOCAL))
    await call(server, "item", {"number": 1}, VERSION_1)
    assert ran == ["read"]


class Size(BaseModel):
    height: int


class Part(BaseModel):
    size: Size
    parts: list["Part"] = []


@pytest.mark.parametrize("kind", ["itself", "mounted"])
@pytest.mark.parametrize("model", [Size, Part])
@pytest.mark.process
async def test_a_tool_whose_schema_is_listed_with_its_references_resolved_is_entered(
    model: type[BaseModel], kind: str
) -> None:
    ran = Ran()
    server: Any = fastmcp.FastMCP("shop")

    def put(given: Any) -> None:
        ran.append(type(given).__name__)

    put.__annotations__["given"] = model
    server.tool(put, annotations=READ)
    if kind == "mounted":
        outer: Any = fastmcp.FastMCP("outer")
        outer.mount(server)
        server = outer
    sayso.bind(server, store="temporary", principal=Principal(LOCAL))
    size = {"height": 1}
    await call(server, "put", {"given": size if model is Size else {"size": size}})
    assert ran == [model.__name__]


async def test_an_older_version_that_middleware_selects_is_not_entered() -> None:
    from fastmcp.server.middleware import Middleware

    ran = Ran()
    server = versioned(ran)

    class Older(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:  # noqa: ARG002 - FastMCP's form
            from fastmcp.utilities.versions import VersionSpec

            return await server.call_tool(
                "item",
                context.message.arguments,
                version=VersionSpec(eq="1.0"),
                run_middleware=False,
            )

    server.add_middleware(Older())
    sayso.bind(server, store="temporary", principal=Principal(LOCAL))
    result = await call(server, "item", {"number": 1})
    assert result.is_error
    assert "Nothing was run" in text(result)
    assert ran == []


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_a_tool_that_calls_another_by_its_name_does_not_reach_it(kind: str) -> None:
    ran = Ran()
    server: Any = MCPServer("shop") if kind == "MCPServer" else fastmcp.FastMCP("shop")

    @server.tool(annotations=READ)
    async def run_any(name: str) -> str:
        """Run any tool."""
        await server.call_tool(name, {})
        return "done"

    @server.tool(annotations=DESTROY)
    def purge() -> str:
        """Purge."""
        ran.append("purged")
        return "purged"

    sayso.bind(server, store="temporary", principal=Principal(LOCAL))
    result = await call(server, "run_any", {"name": "purge"})
    assert result.is_error
    assert ran == []


async def test_tools_of_a_mounted_server_are_entered_as_they_were_judged() -> None:
    inner: Any = fastmcp.FastMCP("inner")
    middle: Any = fastmcp.FastMCP("middle")
    outer: Any = fastmcp.FastMCP("outer")

    @inner.tool(annotations=READ)
    def show(number: int) -> str:
        """Show a number."""
        return f"number {number}"

    middle.mount(inner, namespace="a")
    outer.mount(middle, namespace="b")
    sayso.bind(outer, store="temporary", principal=Principal(LOCAL))
    result = await call(outer, "b_a_show", {"number": 3})
    assert not result.is_error, text(result)
    assert text(result) == "number 3"


def tenants(kind: str, seen: list[Any]) -> Any:
    """A server whose tool acts for the tenant that `_meta` names."""
    if kind == "MCPServer":
        official: Any = MCPServer("shop")

        @official.tool(annotations=DESTROY)
        def wipe(ctx: OfficialContext) -> str:
            """Wipe it."""
            seen.append(dict(ctx.request_context.meta or {}).get("tenant"))
            return "wiped"

        return official
    if kind == "FastMCP":
        server: Any = fastmcp.FastMCP("shop")

        @server.tool(annotations=DESTROY)
        def wipe_it(ctx: fastmcp.Context) -> str:  # pyright: ignore[reportUnknownParameterType, reportInvalidTypeForm]
            """Wipe it."""
            seen.append((ctx.request_context.meta or {}).get("tenant"))
            return "wiped"

        return server

    async def listed(_ctx: Any, _params: Any) -> Any:
        tool = types.Tool.model_validate(
            {"name": "wipe", "inputSchema": {"type": "object"}, "annotations": DESTROY}
        )
        return types.ListToolsResult(tools=[tool])

    async def called(ctx: Any, params: Any) -> Any:
        meta = dict(ctx.params.get("_meta") or {}) | dict(params.meta or {})
        seen.append(meta.get("tenant"))
        return types.CallToolResult(content=[types.TextContent(type="text", text="wiped")])

    return Server("shop", on_list_tools=listed, on_call_tool=called)


def name_of(kind: str) -> str:
    return "wipe_it" if kind == "FastMCP" else "wipe"


async def approve(tools: Tools, number: int) -> None:
    await tools.approvals.answer(number, yes())


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP", "Server"])
async def test_what_a_caller_puts_into_meta_does_not_reach_a_tool(kind: str) -> None:
    seen: list[Any] = []
    server = tenants(kind, seen)
    tools = sayso.bind(
        server, store="temporary", principal=Principal(LOCAL), console="http://c/", patience=0
    )
    async with Client(inside(server)) as client:
        for approved in (False, True):
            if approved:
                await approve(tools, 1)
            await client.session.call_tool(name_of(kind), {}, meta={"tenant": "PRODUCTION"})
    assert seen == [None]


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP", "Server"])
async def test_a_forwarded_key_of_meta_is_bound_to_its_approval(kind: str) -> None:
    seen: list[Any] = []
    server = tenants(kind, seen)
    tools = sayso.bind(
        server,
        store="temporary",
        principal=Principal(LOCAL),
        policy=load_policy(FORWARD),
        console="http://c/",
        patience=0,
    )
    async with Client(inside(server)) as client:

        async def wipe(tenant: str) -> None:
            await client.session.call_tool(name_of(kind), {}, meta={"tenant": tenant})

        await wipe("test-sandbox")
        await approve(tools, 1)
        await wipe("PRODUCTION")
        assert seen == []
        await wipe("test-sandbox")
    assert seen == ["test-sandbox"]


@pytest.mark.process
async def test_no_call_becomes_a_task_whose_result_passes_by_the_guard() -> None:
    from fastmcp.server.extensions import ServerExtension
    from mcp.client.extension import advertise

    tasks, seen = "io.modelcontextprotocol/tasks", []

    class Later(ServerExtension):
        """As FastMCP's own: it takes the calls of clients that have the extension."""

        identifier = tasks

        async def intercept_tool_call(self, params: Any, context: Any, call_next: Any) -> Any:  # noqa: ARG002 - FastMCP's form
            seen.append(context.client_extension_settings(tasks))
            seen.append(context.client_extension_settings("org.example/other"))
            return await call_next()

    server: Any = fastmcp.FastMCP("shop")
    server.add_extension(Later())
    server.tool(lambda: "x" * 300_000, name="get_all", annotations=READ)
    sayso.bind(server, store="temporary", principal=Principal(LOCAL))
    said = [advertise(tasks), advertise("org.example/other", {"a": 1})]
    async with Client(inside(server), extensions=said) as client:
        assert len(text(await client.call_tool("get_all", {}))) < 300_000
    assert seen == [None, {"a": 1}]
