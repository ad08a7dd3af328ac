"""A server behind a gateway: somebody else asks, and all else holds."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp_types import CallToolResult, TextContent

import sayso
from sayso.audit import merged
from sayso.policy import LOCAL, Policy, Principal, load_policy
from sayso.serve import Tools
from sayso.store import open_store

pytestmark = pytest.mark.anyio

LIMITED = load_policy("[limits.calls_per_minute]\ndestructive = 1\n")
DENYING = load_policy('[[rules]]\nname = "kept"\neffect = "deny"\nwhen = { tool = "clear" }\n')
ASKING = load_policy('[[rules]]\nname = "ask"\neffect = "confirm"\nwhen = { tool = "clear" }\n')


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'sayso.db'}"


def served(**words: Any) -> tuple[MCPServer[Any], Tools]:
    """A server with one tool that destroys."""
    server: MCPServer[Any] = MCPServer("studio", log_level="ERROR")
    chosen: dict[str, Any] = {"principal": Principal(LOCAL), "asks": False, **words}
    tools = sayso.bind(server, **chosen)
    tools.tool(sayso.DESTRUCTIVE, name="clear")(lambda: "cleared")
    return server, tools


def below(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


def text(answer: CallToolResult) -> str:
    (block,) = answer.content
    assert isinstance(block, TextContent)
    return block.text


async def test_what_would_ask_runs_and_the_record_says_so(url: str) -> None:
    server, _ = served(store=url)
    async with Client(server) as client:
        assert text(await client.call_tool("clear", {})) == "cleared"

    store = open_store(url)
    bodies = [json.loads(merged(row).body) for row in await store.records.newest() if row.call]
    await store.close()
    assert {(one["decision"], one["would_be"]) for one in bodies} == {("allow", "confirm")}


async def test_it_asks_where_nothing_else_is_said(url: str) -> None:
    server, _ = served(store=url, asks=True)
    async with Client(server) as client:
        assert "no person can be asked. Nothing was run." in text(
            await client.call_tool("clear", {})
        )


async def test_a_client_that_cannot_ask_is_told_the_ways_out(url: str) -> None:
    server, _ = served(store=url, asks=True)
    async with Client(server) as client:
        said = text(await client.call_tool("clear", {}))
    assert "asks=False" in said
    assert "console=True" in said


async def test_console_true_is_the_console_of_a_gateway_here(url: str) -> None:
    server, _ = served(store=url, asks=True, console=True, patience=0.05)
    async with Client(server) as client:
        said = text(await client.call_tool("clear", {}))
    assert "waits for a person (approval 1) at http://127.0.0.1:8321/console/" in said


@pytest.mark.parametrize("policy", [DENYING, load_policy('mode = "unattended"\n')])
async def test_what_is_denied_is_denied(url: str, policy: Policy) -> None:
    server, _ = served(store=url, policy=policy)
    async with Client(server) as client:
        assert "Nothing was run." in text(await client.call_tool("clear", {}))


async def test_a_rule_of_its_own_that_asks_is_left_to_the_other(url: str) -> None:
    server, _ = served(store=url, policy=ASKING)
    async with Client(server) as client:
        assert text(await client.call_tool("clear", {})) == "cleared"


async def test_limits_hold(url: str) -> None:
    server, _ = served(store=url, policy=LIMITED)
    async with Client(server) as client:
        assert text(await client.call_tool("clear", {})) == "cleared"
        assert "Nothing was run." in text(await client.call_tool("clear", {}))


async def test_a_temporary_record_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    server, _ = served(store="temporary")
    async with Client(server) as client:
        await client.call_tool("clear", {})
        assert "sayso.db" in below(tmp_path)

    assert below(tmp_path) == set()


async def test_a_sentence_that_only_the_plan_fills_stays_in_the_server(url: str) -> None:
    server, tools = served(store=url)
    planned = tools.group(plan=lambda: {"changes": [], "count": 3})
    planned.tool(sayso.DELETE, name="shred", confirm="Shred {count} pages?")(lambda: "done")
    tools.tool(sayso.DELETE, name="burn", confirm="Burn it all?")(lambda: "done")
    async with Client(server) as client:
        listed = {one.name: one.meta or {} for one in (await client.list_tools()).tools}

    assert listed["shred"] == {}
    assert listed["burn"]["io.sayso/intent"] == {"confirm": "Burn it all?"}


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_tool_is_found_before_it_was_listed_and_listed_as_it_was(
    url: str, mode: str
) -> None:
    server, tools = served(store=url)
    async with Client(server, mode=mode) as client:
        assert text(await client.call_tool("clear", {})) == "cleared"
        first = await client.list_tools()
        assert await client.list_tools() == first
        tools.tool(sayso.READ_ONLY, name="late")(lambda: "now")
        assert [one.name for one in (await client.list_tools()).tools] == ["clear", "late"]
