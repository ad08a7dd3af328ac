"""Batches, cursors and headers of arguments, on the doors that have them."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.connect.servers.web import MODERN, OLD
from tests.connect.serving import RawClient, faulty, raw_client, real_url
from tests.gateway.serving import Served, serve

from sayso.gateway import make_dispatcher
from sayso.gateway.frontends.stdio import StdioFrontend
from sayso.policy import LOCAL, Principal, load_policy

pytestmark = pytest.mark.anyio

BATCHING = "2025-03-26"


@pytest.fixture(scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    store = tmp_path_factory.mktemp("store") / "sayso.db"
    async with (
        real_url(is_old=False) as real,
        serve(faulty("plain", "s"), real, store=store) as served,
    ):
        yield served


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


def call(number: int, tool: str = "s__get_echo") -> dict[str, Any]:
    params = {"name": tool, "arguments": {"n": number}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


NOTE = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}


async def post(client: RawClient, *messages: Any) -> Any:
    return await client.post(json.dumps(messages), **client.session)


async def test_a_batch_is_answered_by_one_array(served: Served, stack: AsyncExitStack) -> None:
    client = await stack.enter_async_context(raw_client(served.url, BATCHING))

    response = await post(client, call(1), NOTE, call(2), call(3, "nothing"))

    answers = {one["id"]: one for one in response.json()}
    assert {1, 2, 3} == set(answers)
    assert answers[2]["result"]["structuredContent"] == {"n": 2}
    assert answers[3]["error"]["message"] == "Unknown tool: nothing"


async def test_a_batch_that_wants_no_answer_gets_none(
    served: Served, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(served.url, BATCHING))

    response = await post(client, NOTE, NOTE)

    assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize("count", [0, 101])
async def test_an_empty_batch_and_one_that_is_too_long_are_refused(
    served: Served, stack: AsyncExitStack, count: int
) -> None:
    client = await stack.enter_async_context(raw_client(served.url, BATCHING))

    response = await post(client, *[call(1)] * count)

    assert response.status_code == 400


async def test_a_batch_begins_no_session(served: Served, stack: AsyncExitStack) -> None:
    client = await stack.enter_async_context(raw_client(served.url, BATCHING))
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}

    assert (await post(client, hello)).status_code == 400


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", OLD])
async def test_other_versions_have_no_batches(
    served: Served, stack: AsyncExitStack, version: str
) -> None:
    client = await stack.enter_async_context(raw_client(served.url, version))

    assert (await post(client, call(1))).status_code == 400


async def spoken(served: Served, *lines: Any) -> list[Any]:
    """Return the answers over stdio to these lines, each sent after the last answer."""
    written: list[Any] = []
    turn = anyio.Event()

    async def write(body: bytes) -> None:
        nonlocal turn
        written.append(json.loads(body))
        turn.set()

    async def said() -> AsyncIterator[bytes]:
        nonlocal turn
        for line in lines:
            turn = anyio.Event()
            yield json.dumps(line).encode()
            with anyio.fail_after(60):
                await turn.wait()

    await StdioFrontend(make_dispatcher(served.gateway), Principal(LOCAL), write).run(said())
    return written


def hello(version: str) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "amy"}}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


async def test_a_batch_over_stdio_is_one_line(served: Served) -> None:
    _, answers = await spoken(served, hello(BATCHING), [call(1), NOTE, call(2)])

    assert [one["result"]["structuredContent"]["n"] for one in answers] == [1, 2]


async def test_over_stdio_too_only_one_version_has_batches(served: Served) -> None:
    _, answer = await spoken(served, hello(OLD), [call(1)])

    assert answer["error"]["code"] == -32700


@pytest.mark.parametrize("era", [MODERN, OLD])
@pytest.mark.parametrize("method", ["tools/list", "resources/list", "prompts/list"])
async def test_every_list_has_one_page(
    served: Served, stack: AsyncExitStack, era: str, method: str
) -> None:
    client = await stack.enter_async_context(raw_client(served.url, era))

    assert "nextCursor" not in await client.result(method)
    message = await client.ask(method, {"cursor": "second"})
    assert message["error"]["code"] == -32602


async def region(client: RawClient, **headers: str) -> dict[str, Any]:
    """The answer to a call whose tool marks its one argument."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    name = "real__get_region"
    params = {"name": name, "arguments": {"region": "eu"}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    own = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": name}
    response = await client.post(json.dumps(body), **own, **headers)
    return {"status": response.status_code, **response.json()}


async def test_a_header_must_say_what_the_argument_says(
    served: Served, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(served.url, MODERN))

    good = await region(client, **{"mcp-param-region": "eu"})
    other = await region(client, **{"mcp-param-region": "us"})
    none = await region(client)

    assert good["result"]["content"][0]["text"] == "eu"
    for refused in (other, none):
        assert (refused["status"], refused["error"]["code"]) == (400, -32020)


async def test_a_tool_whose_headers_were_checked_is_not_looked_up_again(
    tmp_path: Path, stack: AsyncExitStack
) -> None:
    real = await stack.enter_async_context(real_url(is_old=False))
    served = await stack.enter_async_context(serve(real, store=tmp_path / "a.db"))
    client = await stack.enter_async_context(raw_client(served.url, MODERN))

    async def gone(_name: str, _principal: object, /, *, is_fresh: bool = False) -> None:
        del is_fresh

    object.__setattr__(served.gateway.guard, "find_tool", gone)
    good = await region(client, **{"mcp-param-region": "eu"})
    assert good["result"]["content"][0]["text"] == "eu"


async def test_a_header_of_a_tool_that_is_hidden_tells_nothing(
    tmp_path: Path, stack: AsyncExitStack
) -> None:
    hiding = load_policy(
        '[[rules]]\nname = "hidden"\neffect = "hide"\nwhen = { tool = "get_region" }\n'
    )
    real = await stack.enter_async_context(real_url(is_old=False))
    serving = serve(real, store=tmp_path / "a.db", policy=lambda: hiding)
    served = await stack.enter_async_context(serving)
    client = await stack.enter_async_context(raw_client(served.url, MODERN))

    assert (await region(client))["error"]["message"] == "Unknown tool: real__get_region"
