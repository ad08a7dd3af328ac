"""The demo server without the SDK answers the SDK's client as the one that the SDK serves."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import PromptReference, ResourceTemplateReference

from sayso.connect import write_notification, write_request
from sayso.demo.data import Database, open_database
from sayso.demo.migration import STEPS, is_migrated, last_run
from sayso.demo.plain_server import PlainServer
from sayso.demo.resources import CUSTOMER_URI
from sayso.demo.server import build_server

pytestmark = pytest.mark.anyio

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("customers_list", {}),
    ("customers_list", {"status": "active", "query": "o", "limit": 2.0}),
    ("customers_list", {"limit": 1, "cursor": "after-3"}),
    ("customers_list", {"cursor": "nowhere"}),
    ("customers_list", {"limit": 51, "colour": "green"}),
    ("customers_get", {"customer_id": 7}),
    ("customers_get", {"customer_id": 99}),
    ("customers_get", {"customer_id": "7"}),
    ("customers_get", {}),
    ("customer_create", {"name": "Quince", "email": "a@b.example"}),
    ("customer_create", {"name": "Quince"}),
    ("customer_create", {"name": " "}),
    ("invoice_create_draft", {"customer_id": 7, "description": "Map", "amount_cents": 5}),
    ("invoice_create_draft", {"customer_id": 12, "description": "Map", "amount_cents": 5}),
    ("invoice_send", {"invoice_id": 4}),
    ("invoice_send", {"invoice_id": 4}),
    ("customer_delete", {"customer_id": 5}),
    ("customer_delete", {"customer_id": 5}),
    ("web_search", {"query": "invoice paid", "limit": 2}),
    ("migrate_database", {"dry_run": True}),
    ("migrate_database", {}),
    ("customers_get", {"customer_id": 1}),
)


@pytest.fixture
def start(command: Callable[..., StdioServerParameters]) -> Callable[..., StdioServerParameters]:
    def make(*options: str) -> StdioServerParameters:
        made = command()
        return made.model_copy(update={"args": ["-m", "sayso.demo", *options]})

    return make


@pytest.fixture
async def plain(start: Any, tmp_path: Path) -> AsyncGenerator[Client]:
    async with Client(start("--data", str(tmp_path / "plain.db"))) as client:
        yield client


@pytest.fixture
async def bound(tmp_path: Path) -> AsyncGenerator[Client]:
    with open_database(tmp_path / "bound.db") as database:
        async with Client(build_server(database), mode="legacy") as client:
            yield client


def shown(result: Any) -> dict[str, Any]:
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def test_it_introduces_itself_and_lists_the_same(plain: Client, bound: Client) -> None:
    assert plain.server_info == bound.server_info
    assert plain.server_capabilities == bound.server_capabilities
    assert plain.instructions == bound.instructions
    assert (await plain.list_tools()).tools == (await bound.list_tools()).tools
    assert (await plain.list_resources()).resources == (await bound.list_resources()).resources
    templates = [
        (await client.list_resource_templates()).resource_templates for client in (plain, bound)
    ]
    assert templates[0] == templates[1]
    assert (await plain.list_prompts()).prompts == (await bound.list_prompts()).prompts


async def test_it_answers_calls_with_the_same(plain: Client, bound: Client) -> None:
    for tool, arguments in CALLS:
        answers = [shown(await client.call_tool(tool, arguments)) for client in (plain, bound)]
        assert answers[0] == answers[1], (tool, arguments)


async def test_it_answers_everything_else_with_the_same(plain: Client, bound: Client) -> None:
    for uri in ("customers://3", "demo://about"):
        pages = [shown(await client.read_resource(uri))["contents"] for client in (plain, bound)]
        assert pages[0] == pages[1]
    prompts = [
        shown(await client.get_prompt("chase_invoice", {"invoice_id": "3"}))
        for client in (plain, bound)
    ]
    assert prompts[0] == prompts[1]
    for reference, name in (
        (PromptReference(name="chase_invoice"), "invoice_id"),
        (ResourceTemplateReference(uri=CUSTOMER_URI), "customer_id"),
        (PromptReference(name="chase_invoice"), "colour"),
    ):
        asked = {"name": name, "value": "1"}
        values = [
            (await client.complete(reference, asked)).completion.values for client in (plain, bound)
        ]
        assert values[0] == values[1]


async def test_what_it_does_not_know_is_an_error(plain: Client) -> None:
    with pytest.raises(MCPError, match="Unknown tool: customers_burn"):
        await plain.call_tool("customers_burn", {})
    with pytest.raises(MCPError, match="There is no resource customers://99"):
        await plain.read_resource("customers://99")
    with pytest.raises(MCPError, match="Unknown prompt: nothing"):
        await plain.get_prompt("nothing")
    with pytest.raises(MCPError, match="'99' is not an unpaid invoice"):
        await plain.get_prompt("chase_invoice", {"invoice_id": "99"})


async def test_a_migration_tells_its_steps(plain: Client) -> None:
    told: list[str | None] = []
    is_told = anyio.Event()

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        told.append(message)
        if len(told) == len(STEPS):
            is_told.set()

    await plain.call_tool("migrate_database", progress_callback=tell)
    with anyio.fail_after(60):
        await is_told.wait()

    assert sorted(filter(None, told)) == sorted(f"Done: {step.what}." for step in STEPS)


def test_a_cancelled_migration_is_rolled_back_and_gets_no_answer(tmp_path: Path) -> None:
    sent: list[Any] = []
    call = {"name": "migrate_database", "_meta": {"progressToken": 1}}

    def lines(database: Database) -> Iterator[bytes]:
        # The migration waits for this transaction, and is cancelled before it begins.
        with database.writing():
            yield write_request(1, "tools/call", call)
            yield write_notification("notifications/cancelled", {"requestId": 1})

    with open_database(tmp_path / "a.db") as database:
        PlainServer(database, lambda message: sent.append(json.loads(message))).serve(
            lines(database)
        )
        with database.reading() as connection:
            last = last_run(connection)
            assert not is_migrated(connection)

    assert [message["method"] for message in sent] == ["notifications/progress"]
    assert "Cancelled after step 1 of 5; rolled back." in str(last)


def test_a_message_that_cannot_be_read_gets_an_error(tmp_path: Path) -> None:
    sent: list[Any] = []
    lines = (
        b"{",
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": 7}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}',
        b'{"jsonrpc": "2.0", "id": 2, "method": "nothing/here"}',
        b'{"jsonrpc": "2.0", "id": 3, "method": "initialize"}',
    )
    with open_database(tmp_path / "a.db") as database:
        PlainServer(database, lambda message: sent.append(json.loads(message))).serve(lines)

    by_number = sorted(sent, key=lambda message: message["id"] or 0)
    assert [message.get("error", {}).get("code") for message in by_number] == [
        -32700,
        -32700,
        -32601,
        None,
    ]
    assert by_number[-1]["result"]["protocolVersion"] == "2025-11-25"


def test_a_crash_is_an_error_without_details(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[Any] = []
    call = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "%s"}}'
    with open_database(tmp_path / "a.db") as database:
        with database.writing() as connection:
            connection.execute("ALTER TABLE customers RENAME TO secret_customers")
        server = PlainServer(database, lambda message: sent.append(json.loads(message)))
        server.serve([call % b"customers_list"])

    assert sent == [
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "the request failed"}}
    ]
    assert "no such table" in caplog.text


def test_a_file_that_cannot_be_used_is_named_on_stderr(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "sayso.demo", "--data", str(tmp_path / "nowhere" / "a.db")]
    done = subprocess.run(words, check=False, capture_output=True, text=True)

    assert done.returncode == 4
    assert done.stdout == ""
    assert done.stderr.startswith("sayso.demo: ")


def test_it_serves_until_stdin_ends(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "sayso.demo", "--data", str(tmp_path / "a.db")]
    ask = write_request(1, "ping", {}) + b"\n"
    done = subprocess.run(words, input=ask, check=True, capture_output=True)

    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}
