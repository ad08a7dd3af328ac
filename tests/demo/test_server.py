"""The demo as a process of its own, over stdin and stdout."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from sayso.demo.data import open_database
from sayso.demo.server import main

pytestmark = pytest.mark.anyio

Command = Callable[..., StdioServerParameters]


def files_below(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


async def test_it_serves_over_stdio(command: Command, mode: str, said: Any) -> None:
    async with Client(command(), mode=mode) as client:
        listed = await client.list_tools()
        page = await client.call_tool("customers_list", {"status": "closed"})
        refused = await client.call_tool("customers_list", {"colour": "green"})

    assert len(listed.tools) == 8
    assert page.structured_content is not None
    assert page.structured_content["total"] == 1
    assert "('colour' was unexpected)" in said(refused)


async def test_without_a_file_nothing_is_left_behind(command: Command, tmp_path: Path) -> None:
    async with Client(command()) as client:
        await client.call_tool("customer_create", {"name": "Quince"})
        assert "studio.db" in files_below(tmp_path)

    assert files_below(tmp_path) == set()


@pytest.mark.parametrize("by", ["option", "variable"])
async def test_a_named_file_keeps_what_was_written(
    command: Command, tmp_path: Path, by: str
) -> None:
    path = tmp_path / "kept.db"
    start = command("--data", str(path)) if by == "option" else command(SAYSO_DEMO_DATA=str(path))
    async with Client(start) as client:
        await client.call_tool("customer_delete", {"customer_id": 1})

    with open_database(path) as database, database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM customers").fetchone()[0] == 11


async def test_two_processes_that_create_one_name_get_one_customer(
    command: Command, tmp_path: Path
) -> None:
    start = command("--data", str(tmp_path / "shared.db"))
    answers: list[Any] = []

    async def create(client: Client) -> None:
        answer = await client.call_tool("customer_create", {"name": "Quince"})
        answers.append(answer.structured_content)

    async with Client(start) as one, Client(start) as other, anyio.create_task_group() as tasks:
        tasks.start_soon(create, one)
        tasks.start_soon(create, other)

    assert sorted(one["created"] for one in answers) == [False, True]
    assert {one["customerId"] for one in answers} == {13}


async def test_a_migration_cancelled_over_stdio_is_rolled_back(
    command: Command, mode: str, cancel_on_progress: Any
) -> None:
    async with Client(command("--pace", "3600"), mode=mode) as client:
        with anyio.fail_after(60), anyio.CancelScope() as scope:
            stop = cancel_on_progress(scope)
            await client.call_tool("migrate_database", progress_callback=stop)
        # Only one writes at a time: this comes after the rollback.
        await client.call_tool("customer_create", {"name": "Quince"})
        plan = await client.call_tool("migrate_database", {"dry_run": True})

    assert plan.structured_content is not None
    assert plan.structured_content["status"] == "planned"
    assert "Cancelled after step 1 of 5; rolled back." in plan.structured_content["lastRun"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_at_once_and_leaves_nothing_behind(
    command: Command, tmp_path: Path, number: int, code: int
) -> None:
    start = command()
    with subprocess.Popen(
        [start.command, *start.args],
        env=start.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(number)
        assert process.wait(60) == code

    assert files_below(tmp_path) == set()


def test_a_file_that_cannot_be_used_is_named_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        code = main(["--data", str(tmp_path / "nowhere" / "studio.db")])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

    captured = capsys.readouterr()
    assert code == 4
    assert captured.out == ""
    assert captured.err.startswith("sayso.demo.server: ")
    assert "Name a writable file" in captured.err


def test_importing_the_package_imports_no_sdk() -> None:
    script = (
        "import sys, sayso.demo; print(sorted({'mcp', 'mcp_types', 'pydantic'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )

    assert done.stdout == "[]\n"
