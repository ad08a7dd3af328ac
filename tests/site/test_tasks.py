"""Five newcomers' tasks by the documents alone: a page's own commands, from an empty folder."""

import json
import re
from pathlib import Path

import pytest
from tests.site.journey import DELETE, delete_with_approval, free_port, login_link
from tests.site.pages import Reader

pytestmark = pytest.mark.anyio


async def guard_two_servers(folder: Path) -> Reader:
    """Follow the first page until a person has allowed a call."""
    reader = Reader("start/gateway.md", folder, port=free_port())
    reader.save("mcp.json")
    with reader.start("sayso gateway mcp.json") as gateway:
        await delete_with_approval(reader, login_link(gateway))
    return reader


async def test_guard_two_servers(tmp_path: Path) -> None:
    await guard_two_servers(tmp_path)
    servers = json.loads((tmp_path / "mcp.json").read_text("utf-8"))["mcpServers"]
    assert len(servers) == 2


async def test_find_who_approved_a_call(tmp_path: Path) -> None:
    before = await guard_two_servers(tmp_path)
    reader = Reader("guides/audit.md", tmp_path, port=before.port)
    listed = reader.run("sayso audit list")
    # The newest record is the last: the outcome of the call that a person has allowed.
    call = re.findall(r"outcome +(\w+) +\S+ +crm\.customer", listed)[-1]
    shown = reader.run("sayso audit show CALL", CALL=call)
    assert re.search(r"channel +console", shown)
    assert re.search(r"answered_by +console", shown)


def test_add_a_deny_rule(tmp_path: Path) -> None:
    first = Reader("start/gateway.md", tmp_path)
    first.save("mcp.json")
    reader = Reader("guides/policy.md", tmp_path, port=free_port())
    reader.save("policy.toml")
    reader.run("sayso policy check policy.toml")
    reader.run("sayso policy check mcp.json")
    with reader.start("sayso gateway mcp.json --policy policy.toml") as gateway:
        login_link(gateway)
        client = Reader("start/gateway.md", tmp_path, port=reader.port)
        answer = client.run(DELETE, code=1)
    assert "customers are archived, never deleted" in answer


def test_adopt_an_existing_fastmcp_server(tmp_path: Path) -> None:
    reader = Reader("guides/adopt.md", tmp_path)
    reader.save("server.py")
    reader.run("sayso inspect server.py")
    reader.save("server.py")
    shown = reader.run("sayso inspect server.py")
    assert not re.search(r"(yes|no)[*?]", shown)
    reader.run("sayso lint server.py")


def test_verify_a_server(tmp_path: Path) -> None:
    reader = Reader("guides/verify.md", tmp_path)
    reader.save("server.py")
    report = reader.run("sayso verify --evidence server.py", code=1)
    assert "✗ notes_list: read-only, declared true: append /world/notes.txt" in report
