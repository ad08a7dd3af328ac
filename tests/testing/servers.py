"""Small servers of every kind, declared well or badly."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.lowlevel import Server

import sayso

GIT = str(Path(sys.executable).with_name("mcp-server-git"))
KINDS = ("MCPServer", "FastMCP", "Server")


def empty(kind: str) -> Any:
    """A server without tools."""
    made: dict[str, Callable[[], Any]] = {
        "MCPServer": lambda: MCPServer("crm"),
        "FastMCP": lambda: FastMCP("crm"),
        "Server": lambda: Server("crm"),
    }
    return made[kind]()


def bound(kind: str = "MCPServer", **how: Any) -> Any:
    """A server whose tools are declared with sayso; `how` is for `bind`."""
    server = empty(kind)
    customers = {11: "Ann", 12: "Ben"}
    tools = sayso.bind(server, **how)

    @tools.tool(sayso.READ_ONLY, scopes={"crm.read"})
    def customers_list() -> list[str]:
        """List all customers."""
        return sorted(customers.values())

    @tools.tool(sayso.DELETE, scopes={"crm.write"}, confirm="Delete customer {customer_id}?")
    def customer_delete(customer_id: int) -> str:
        """Delete a customer."""
        return f"deleted {customers.pop(customer_id)} for {sayso.context().principal.subject}"

    return server


def plain(*entries: Mapping[str, Any], answer: Callable[..., Any] = lambda *_: "done") -> Any:
    """A low-level server without sayso that lists exactly these entries."""

    async def on_list(_ctx: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=[])

    async def on_call(_ctx: Any, params: Any) -> Any:
        text = str(answer(params))
        return types.CallToolResult(content=[types.TextContent(text=text)])

    server = Server("crm", on_list_tools=on_list, on_call_tool=on_call)

    async def raw(ctx: Any, call_next: Any) -> Any:
        result = await call_next(ctx)
        if ctx.method != "tools/list":
            return result
        return {
            **dict(result),
            "tools": [{"inputSchema": {"type": "object"}, **e} for e in entries],
        }

    server.middleware.append(raw)
    return server


def hints(*, title: str | None = None, **given: Any) -> dict[str, Any]:
    """Annotations by the names of Python."""
    wire = {
        "read_only": "readOnlyHint",
        "destructive": "destructiveHint",
        "idempotent": "idempotentHint",
        "open_world": "openWorldHint",
    }
    return {wire[key]: one for key, one in given.items()} | ({"title": title} if title else {})


READ = hints(title="List", read_only=True, destructive=False, idempotent=True, open_world=False)
