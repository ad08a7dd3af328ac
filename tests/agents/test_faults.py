"""Retries after a failure of the connection, and cancelling."""

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import ToolAnnotations
from tests.agents.serving import cutting, events, faulty, lines, process, text
from tests.connect.serving import SERVERS, serve_app, until_there

import sayso
from sayso.demo.data import Database
from sayso.demo.server import build_server

pytestmark = pytest.mark.anyio

LOST = "this call may have run or not. It was not sent again"


def slow_server(sent: list[str]) -> MCPServer[Any]:
    """A server that does not answer the first call of any tool."""
    server: MCPServer[Any] = MCPServer("slow")

    async def answer(name: str) -> str:
        sent.append(name)
        if sent.count(name) == 1:
            await anyio.sleep_forever()
        return "done"

    async def get_state() -> str:
        """Get the state."""
        return await answer("get_state")

    async def set_state() -> str:
        """Set the state."""
        return await answer("set_state")

    async def add_entry() -> str:
        """Add an entry."""
        return await answer("add_entry")

    for tool, read_only, idempotent in (
        (get_state, True, True),
        (set_state, False, True),
        (add_entry, False, False),
    ):
        hints = ToolAnnotations(
            read_only_hint=read_only,
            destructive_hint=False,
            idempotent_hint=idempotent,
            open_world_hint=False,
        )
        server.add_tool(tool, annotations=hints)
    return server


@pytest.mark.parametrize("name", ["get_state", "set_state"])
async def test_what_may_happen_twice_is_sent_again_after_a_lost_answer(
    name: str, era: str, url: str
) -> None:
    sent: list[str] = []
    async with (
        Client(slow_server(sent), mode=era) as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        result = await guarded.call_tool(name, read_timeout_seconds=0.2)
    assert text(result) == "done"
    assert sent == [name, name]
    assert await events(url) == [("attempt", None), ("attempt", None), ("outcome", "ok")]


async def test_a_lost_answer_of_what_must_not_happen_twice_is_unknown_and_not_sent_again(
    era: str, url: str
) -> None:
    sent: list[str] = []
    async with (
        Client(slow_server(sent), mode=era) as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        result = await guarded.call_tool("add_entry", read_timeout_seconds=0.2)
    assert result.is_error
    assert LOST in text(result)
    assert (result.meta or {})["io.sayso/outcome"] == "outcome_unknown"
    assert sent == ["add_entry"]
    assert await events(url) == [("attempt", None), ("outcome", "outcome_unknown")]


async def test_the_clients_own_time_limit_holds_where_the_call_has_none(era: str, url: str) -> None:
    sent: list[str] = []
    async with (
        Client(slow_server(sent), mode=era, read_timeout_seconds=0.3) as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        assert LOST in text(await guarded.call_tool("add_entry"))


@pytest.mark.process
async def test_a_server_that_dies_in_a_call_is_told_apart_from_one_that_was_dead(
    tmp_path: Path, url: str
) -> None:
    log, script = tmp_path / "log", tmp_path / "server.py"
    shutil.copy(SERVERS / "faulty.py", script)
    async with (
        Client(process(str(script), "plain"), mode="legacy") as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        lost = await guarded.call_tool("add_crash", {"log": str(log)})
        assert LOST in text(lost)
        script.unlink()  # the process cannot be started again
        dead = await guarded.call_tool("add_crash", {"log": str(log)})
        assert dead.is_error
        assert "Nothing was run" in text(dead)
        assert "cannot be reached" in text(dead)
    assert log.read_text() == "crash\n"
    ends = [outcome for event, outcome in await events(url) if event == "outcome"]
    assert ends == ["outcome_unknown", "unreachable"]


@pytest.mark.process
async def test_each_call_after_a_crash_goes_to_a_new_process_and_none_is_sent_twice(
    tmp_path: Path, url: str
) -> None:
    log = tmp_path / "log"
    async with (
        Client(faulty(), mode="legacy") as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        for _ in range(2):
            assert LOST in text(await guarded.call_tool("add_crash", {"log": str(log)}))
    assert log.read_text() == "crash\n" * 2
    ends = [outcome for event, outcome in await events(url) if event == "outcome"]
    assert ends == ["outcome_unknown", "outcome_unknown"]


@pytest.mark.process
async def test_a_cancelled_call_is_cancelled_at_the_server_and_recorded_as_unknown(
    tmp_path: Path, url: str
) -> None:
    log = tmp_path / "log"
    async with (
        Client(faulty(), mode="legacy") as client,
        sayso.wrap(client, audit=url) as guarded,
        anyio.create_task_group() as group,
    ):
        group.start_soon(guarded.call_tool, "add_hang", {"log": str(log)})
        await until_there(log, "hang")
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await until_there(log, "cancelled")
    assert await events(url) == [("attempt", None), ("outcome", "outcome_unknown")]


async def test_cancelled_while_it_waits_nothing_runs(era: str, url: str) -> None:
    asked = anyio.Event()

    async def ask(_: sayso.Approval) -> None:
        asked.set()
        await anyio.sleep_forever()

    sent: list[str] = []
    server = slow_server(sent)
    server.add_tool(_delete_all, annotations=ToolAnnotations(destructive_hint=True))
    async with (
        Client(server, mode=era) as client,
        sayso.wrap(client, approver=ask, audit=url) as guarded,
        anyio.create_task_group() as group,
    ):
        group.start_soon(guarded.call_tool, "_delete_all")
        with anyio.fail_after(60):
            await asked.wait()
        group.cancel_scope.cancel()
    assert await events(url) == [("asked", None), ("outcome", "cancelled")]


def _delete_all() -> str:
    """Delete everything."""
    message = "it was called"
    raise AssertionError(message)


@pytest.mark.process
async def test_an_error_of_the_server_is_raised_as_the_client_raises_it(url: str) -> None:
    async with (
        Client(faulty(), mode="legacy") as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        with pytest.raises(MCPError) as bare:
            await client.call_tool("get_refused")
        with pytest.raises(MCPError) as raised:
            await guarded.call_tool("get_refused")
    assert raised.value.error == bare.value.error
    assert (raised.value.code, str(raised.value)) == (-32000, "out of paper")
    assert [one.get("outcome") for one in await lines(url)] == [None, "error"]


@pytest.mark.process
async def test_progress_of_the_wait_and_of_the_server_is_told(url: str) -> None:
    told: list[str | None] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        assert progress <= (total or 0)
        told.append(message)
        if message == "step 1":
            raise ZeroDivisionError  # costs nobody anything

    async with (
        Client(faulty(), mode="legacy") as client,
        sayso.wrap(client, audit=url, approver=lambda _: False) as guarded,
    ):
        await guarded.call_tool("get_progress", progress_callback=on_progress)
        await guarded.call_tool("delete_all", {"log": "none"}, progress_callback=on_progress)
    assert told[:2] == ["step 1", "step 2"]
    assert told[2] is not None
    assert "waits for a person" in told[2]


async def test_a_broken_connection_ends_the_sdks_client_and_leaves_the_call_recorded_as_unknown(
    era: str, database: Database, url: str
) -> None:
    arguments = {"customer_id": 12, "amount_cents": 5, "description": "logo"}
    sent: list[bytes] = []
    app = cutting(build_server(database).streamable_http_app(), sent)
    with pytest.raises(ExceptionGroup):
        async with (
            serve_app(app) as base,
            Client(f"{base}/mcp", mode=era) as client,
            sayso.wrap(client, audit=url) as guarded,
        ):
            await guarded.call_tool("invoice_create_draft", arguments)
    assert len(sent) == 1
    assert await events(url) == [("attempt", None), ("outcome", "outcome_unknown")]
