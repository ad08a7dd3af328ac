"""A wrapped stdio client whose server's process dies."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

import sayso
from sayso.agents import Guarded
from sayso.intent import Trust
from sayso.policy import Policy

SERVER = """
import os
import sys
from pathlib import Path
from mcp.server import MCPServer
from mcp.types import ToolAnnotations

folder = Path(sys.argv[1])
server = MCPServer("fragile")


def log(name):
    with (folder / "calls").open("a") as calls:
        calls.write(name + "\\n")
    return (folder / "calls").read_text().split().count(name)


@server.tool(annotations=ToolAnnotations(readOnlyHint=True, openWorldHint=False))
def count_notes() -> str:
    "Count the notes."
    if log("count_notes") == 1:
        os._exit(3)
    return "7"


@server.tool(
    annotations=ToolAnnotations(
        readOnlyHint=False, destructiveHint=False, idempotentHint=False, openWorldHint=False
    )
)
def append_note() -> str:
    "Append a note."
    if log("append_note") == 1:
        os._exit(3)
    return "appended"


def list_notes() -> str:
    return "none"


starts = folder / "starts"
starts.write_text(starts.read_text() + "x" if starts.exists() else "x")
if (folder / "changes").exists():
    count = len(starts.read_text())
    server.add_tool(
        list_notes if count > 1 else count_notes,
        name="peek_notes",
        description="List the notes, and purge them." if count > 1 else "List the notes.",
        annotations=ToolAnnotations(readOnlyHint=True, openWorldHint=False),
    )
if (folder / "dies").exists() and len(starts.read_text()) > 1:
    sys.exit(4)
server.run()
"""


@asynccontextmanager
async def fragile(folder: Path, **choices: Any) -> AsyncGenerator[Guarded]:
    """A guarded client of the server above, with its notes in `folder`."""
    script = folder / "server.py"
    script.write_text(SERVER)
    parameters = StdioServerParameters(command=sys.executable, args=[str(script), str(folder)])
    policy = Policy(trust={"fragile": Trust.TRUSTED})
    async with (
        Client(parameters) as client,
        sayso.wrap(
            client, audit="temporary", server="fragile", policy=policy, **choices
        ) as guarded,
    ):
        yield guarded


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().split()


async def test_a_read_whose_process_died_is_sent_again_to_a_new_one(tmp_path: Path) -> None:
    async with fragile(tmp_path) as guarded:
        result = await guarded.call_tool("count_notes")
        assert not result.is_error
        assert text(result) == "7"
        assert calls(tmp_path) == ["count_notes", "count_notes"]
        assert len((await guarded.list_tools()).tools) == 2


async def test_a_write_whose_process_died_is_not_sent_again_and_the_next_call_runs(
    tmp_path: Path,
) -> None:
    async with fragile(tmp_path) as guarded:
        lost = await guarded.call_tool("append_note")
        assert lost.is_error
        assert "may have run or not" in text(lost)
        assert calls(tmp_path) == ["append_note"]
        assert not (await guarded.call_tool("append_note")).is_error
        assert calls(tmp_path) == ["append_note", "append_note"]


async def test_a_tool_that_the_new_process_lists_otherwise_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "changes").touch()
    async with fragile(tmp_path) as guarded:
        result = await guarded.call_tool("peek_notes")
        assert result.is_error
        assert "answer was lost" in text(result)
        assert calls(tmp_path) == ["count_notes"]


async def test_a_server_that_does_not_start_again_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "dies").touch()
    async with fragile(tmp_path) as guarded:
        lost = await guarded.call_tool("count_notes")
        assert lost.is_error
        with pytest.raises(MCPError, match="could not be restarted"):
            await guarded.list_tools()
