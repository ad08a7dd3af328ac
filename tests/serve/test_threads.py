"""Functions that run in threads: cancelled where they look, and heard when they refuse."""

from threading import Event
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import TextContent

import sayso
from sayso.policy import LOCAL, Principal

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["legacy", "2026-07-28"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


def bound() -> tuple[MCPServer[Any], sayso.Tools]:
    server: MCPServer[Any] = MCPServer("threads", log_level="ERROR")
    return server, sayso.bind(server, principal=Principal(LOCAL), store="temporary")


async def test_a_thread_ends_at_the_next_progress_after_a_cancellation(mode: str) -> None:
    server, tools = bound()
    ended = Event()

    @tools.tool(sayso.READ_ONLY)
    def work() -> None:  # pyright: ignore[reportUnusedFunction] - the server calls it
        try:
            for number in range(1_000_000):
                sayso.context().progress_from_thread(number)
        finally:
            ended.set()

    async with Client(server, mode=mode) as client:
        with anyio.fail_after(60), anyio.CancelScope() as scope:

            async def stop(progress: float, total: float | None, message: str | None) -> None:
                del progress, total, message
                scope.cancel()

            await client.call_tool("work", {}, progress_callback=stop)
        assert await anyio.to_thread.run_sync(ended.wait, 20)


async def test_what_sayso_says_on_purpose_is_read(mode: str) -> None:
    server, tools = bound()

    @tools.tool(sayso.READ_ONLY)
    def find() -> None:  # pyright: ignore[reportUnusedFunction] - as above
        raise sayso.SaysoError("there is no such page")

    async with Client(server, mode=mode) as client:
        answer = await client.call_tool("find", {})

    (block,) = answer.content
    assert isinstance(block, TextContent)
    assert answer.is_error
    assert block.text == "there is no such page"


async def test_a_plan_may_say_why_there_is_none(mode: str) -> None:
    server, tools = bound()

    def plan() -> None:
        raise ToolError("there is no such page")

    tools.tool(sayso.DELETE, name="shred", plan=plan)(lambda: "done")
    async with Client(server, mode=mode) as client:
        (block,) = (await client.call_tool("shred", {})).content

    assert isinstance(block, TextContent)
    assert block.text == "Nothing was run: there is no such page"
