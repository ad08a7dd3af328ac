import json
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from tests.testing.servers import GIT, KINDS, READ, bound, plain

from sayso.errors import NotMcpError, TargetError, UnreachableError, UsageError
from sayso.testing import Surface, assert_annotated, assert_level, read_surface
from sayso.testing.bound_server import lowlevel_of, middleware_of


@pytest.mark.parametrize("kind", KINDS)
async def test_a_bound_server_shows_all_its_tools_whoever_may_see_them(kind: str) -> None:
    surface = await read_surface(bound(kind))
    assert [one.name for one in surface.tools] == ["customers_list", "customer_delete"]
    assert surface.tool("customer_delete").intent.scopes == {"crm.write"}


async def test_a_policy_that_hides_a_tool_hides_nothing_from_a_test(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[[rules]]\nname = "none"\neffect = "hide"\nwhen = { tool = "customers_list" }\n'
    )
    surface = await read_surface(bound(policy=policy))
    assert len(surface.tools) == 2


async def test_hints_are_read_as_they_were_sent() -> None:
    surface = await read_surface(plain({"name": "a", "annotations": {"readOnlyHint": 1}}))
    assert surface.tools[0].findings[0].code == "hint-not-a-boolean"


async def test_reading_leaves_the_server_and_its_store_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_STORE", f"sqlite:{tmp_path / 'mine.db'}")
    server = bound(store=f"sqlite:{tmp_path / 'theirs.db'}")
    lowlevel = lowlevel_of(server)
    before = [*lowlevel.middleware], lowlevel.lifespan
    door = middleware_of(lowlevel)
    assert door is not None
    engine = door.runtime
    settings = engine.settings

    await read_surface(server)

    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - a folder of this test
    assert ([*lowlevel.middleware], lowlevel.lifespan) == before
    assert engine.settings is settings


async def test_inside_of_an_event_loop_an_assertion_says_what_to_write() -> None:
    server = bound()
    with pytest.raises(UsageError) as caught:
        assert_annotated(server)
    assert str(caught.value) == (
        "assert_annotated: an event loop is already running. "
        "Write assert_annotated(await sayso.testing.read_surface(server), …)."
    )
    assert_annotated(await read_surface(server))


def test_a_saved_list_is_a_server(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": [{"name": "notes_list", "annotations": READ}]}))
    assert_annotated(str(file))
    assert_annotated(file)


@pytest.mark.process
def test_a_configuration_of_several_servers_is_not_one(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    servers = {name: {"command": GIT} for name in ("git", "more")}
    file.write_text(json.dumps({"mcpServers": servers}))
    with pytest.raises(TargetError, match=r"mcp\.json#NAME \(git, more\)"):
        assert_annotated(str(file))
    with pytest.raises(AssertionError, match="git: 12 of 12 tools"):
        assert_annotated(f"{file}#git")


def test_what_is_no_server_is_told() -> None:
    with pytest.raises(UsageError, match="tools cannot be bound to a int"):
        assert_annotated(12)


def test_a_surface_is_taken_as_it_is() -> None:
    assert_annotated(Surface("crm", ()))


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ({"tools": 12}, "returned no list of tools"),
        ({"tools": [], "nextCursor": "a"}, "has more than 1000 pages"),
    ],
)
def test_a_server_without_a_list_is_told(listed: Any, words: str) -> None:
    server = plain()

    async def other(ctx: Any, call_next: Any) -> Any:
        result = dict(await call_next(ctx))
        return {**result, **listed} if ctx.method == "tools/list" else result

    server.middleware.insert(0, other)
    with pytest.raises(NotMcpError, match=words):
        assert_annotated(server)


def test_a_list_that_ends_in_an_error_is_told() -> None:
    server = plain()

    async def broken(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/list":
            raise MCPError(-32000, "out of order")
        return await call_next(ctx)

    server.middleware.insert(0, broken)
    with pytest.raises(UnreachableError, match="crm: tools/list failed: out of order"):
        assert_annotated(server)


def test_all_pages_are_read() -> None:
    pages = {
        None: {"tools": [{"name": "a", "inputSchema": {}}], "nextCursor": "b"},
        "b": {"tools": [{"name": "c", "inputSchema": {}}]},
    }
    server = plain()

    async def paged(ctx: Any, call_next: Any) -> Any:
        result = dict(await call_next(ctx))
        if ctx.method != "tools/list":
            return result
        return {**result, **pages[(ctx.params or {}).get("cursor")]}

    server.middleware.insert(0, paged)
    with pytest.raises(UsageError, match="Its tools: a, c"):
        assert_level(server, {"zzz": "read"})
