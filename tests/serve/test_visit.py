"""URL elicitation of a bound server: the console of a gateway on the same store has the page."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from tests.connect.serving import serve_app
from tests.gateway.serving import Served
from tests.gateway.serving import serve as serve_gateway
from tests.serve.serving import ERAS, KINDS, Offered, app_of, inside, lines, offer, text
from tests.visiting import Visitor, logged_in, open_questions

from sayso.keys import load_keys
from sayso.policy import Policy

pytestmark = pytest.mark.anyio

TRANSPORTS = ["memory", "http"]


@asynccontextmanager
async def target_of(offered: Offered, transport: str) -> AsyncGenerator[Any]:
    if transport == "memory":
        yield inside(offered.server)
        return
    async with serve_app(app_of(offered.server)) as base:
        yield f"{base}/mcp"


@asynccontextmanager
async def console_on(folder: Path) -> AsyncGenerator[tuple[Served, str]]:
    """A gateway without tools on the server's store, with its keys; and its console's address."""
    store = folder / "sayso.db"
    keys = load_keys(store, is_made=True)
    async with serve_gateway(store=store, keys=keys) as served:
        yield served, f"{served.url.removesuffix('/mcp')}/console/"


async def delete_and_visit(client: Client, visitor: Visitor) -> types.CallToolResult:
    results: list[types.CallToolResult] = []

    async def call() -> None:
        results.append(await client.call_tool("customer_delete", {"customer_id": 1}))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await visitor.visit()
    return results[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_person_approves_on_the_page_and_the_tool_runs_once(
    kind: str, era: str, transport: str, tmp_path: Path
) -> None:
    async with console_on(tmp_path) as (served, console), logged_in(served) as browser:
        visitor = Visitor(browser=browser)
        offered = offer(kind, tmp_path, console=console, patience=30)
        async with (
            target_of(offered, transport) as target,
            Client(target, mode=era, elicitation_callback=visitor) as client,
        ):
            result = await delete_and_visit(client, visitor)
    assert text(result) == "deleted customer 1"
    assert offered.studio.done == ["delete 1"]
    (asked,) = visitor.asked
    assert asked.url == f"{console}approvals/1"
    assert "Delete customer 1 for good?" in asked.message
    assert visitor.pages == [200, 303]
    assert (await lines(offered.url))[-1]["channel"] == "console"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_what_the_client_says_of_the_page_is_no_answer(
    kind: str, era: str, action: str, tmp_path: Path
) -> None:
    visitor = Visitor(action)
    offered = offer(kind, tmp_path, console="http://127.0.0.1:1/console/", patience=0.3)
    async with Client(inside(offered.server), mode=era, elicitation_callback=visitor) as client:
        with anyio.fail_after(30):
            result = await client.call_tool("customer_delete", {"customer_id": 1})
        assert await open_questions(offered.tools.approvals) == [1]
    assert result.is_error
    said = "the person at the client did not open" if action == "decline" else "Not run yet"
    assert said in text(result)
    assert (len(visitor.asked), offered.studio.done) == (1, [])


@pytest.mark.parametrize("era", ERAS)
async def test_without_a_console_nobody_is_led_anywhere(era: str, tmp_path: Path) -> None:
    visitor = Visitor()
    offered = offer("MCPServer", tmp_path, policy=Policy())
    async with Client(inside(offered.server), mode=era, elicitation_callback=visitor) as client:
        result = await client.call_tool("customer_delete", {"customer_id": 1})
    assert "no person can be asked" in text(result)
    assert (visitor.asked, offered.studio.done) == ([], [])


@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_that_was_given_on_the_page_earlier_is_enough(
    era: str, tmp_path: Path
) -> None:
    """The client agreed, the person took their time, and the call was made again."""
    async with console_on(tmp_path) as (served, console), logged_in(served) as browser:
        visitor = Visitor(browser=browser)
        offered = offer("MCPServer", tmp_path, console=console, patience=0.1)
        async with Client(inside(offered.server), mode=era, elicitation_callback=visitor) as client:
            first = await client.call_tool("customer_delete", {"customer_id": 1})
            await visitor.visit()
            second = await client.call_tool("customer_delete", {"customer_id": 1})
            third = await client.call_tool("customer_delete", {"customer_id": 1})
    assert "Not run yet" in text(first)
    assert text(second) == "deleted customer 1"
    assert third.is_error
    assert offered.studio.done == ["delete 1"]
