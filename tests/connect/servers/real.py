"""`real.py [old]`: a server made with the SDK; `old` knows no `server/discover`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import anyio
import mcp_types as types
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ToolAnnotations
from pydantic import Field

READ = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def build(*, is_old: bool) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("real", version="7", instructions="Be kind.")
    for tool in (get_sum, get_region, get_slowly, wait, change):
        server.add_tool(tool, annotations=READ)
    if is_old:
        server.middleware.append(refuse_discover)
    return server


async def refuse_discover(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "server/discover":
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found")
    return await call_next(ctx)


def get_sum(a: int, b: int) -> int:
    return a + b


def get_region(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
) -> str:
    return region


async def get_slowly(ctx: Context[Any, Any]) -> str:
    for step in (1, 2):
        await ctx.report_progress(step, 2, f"step {step}")
    return "done"


async def wait(journal: str) -> str:
    """Wait for a minute, or until cancelled."""
    # The journal is for the test alone. A text that told of it would contradict the hint, and the
    # gateway would ask before the call.
    path = anyio.Path(journal)
    await path.write_text("begun\n")
    try:
        await anyio.sleep(60)
    except anyio.get_cancelled_exc_class():
        Path(journal).write_text("begun\ncancelled\n")  # noqa: ASYNC240 - no await is left
        raise
    return "done"


async def change(ctx: Context[Any, Any]) -> str:
    await ctx.session.send_tool_list_changed()
    return "changed"


if __name__ == "__main__":
    build(is_old="old" in sys.argv).run("stdio")
