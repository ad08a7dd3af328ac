"""Calls that a server answers later: their names are good for their callers alone."""

import json
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.connect.servers.web import MODERN, OLD, Exchange, Site, serve_web
from tests.connect.serving import RawClient, raw_client
from tests.gateway.serving import Served, serve

from sayso.connect import Envelope, UrlTarget
from sayso.keys import Keyring
from sayso.schema import LIMIT

pytestmark = pytest.mark.anyio

TASKS = "io.modelcontextprotocol/tasks"
CAN: dict[str, Any] = {"elicitation": {}, "extensions": {TASKS: {}}}
KEYS = Keyring.of([b"k" * 32])
FORM = {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": {}}}


def begin(exchange: Exchange) -> None:
    exchange.result({"resultType": "task", "taskId": "t-1", "status": "working"})


def look(exchange: Exchange) -> None:
    assert exchange.body["params"]["taskId"] == "t-1"
    assert exchange.headers["mcp-name"] == "t-1"
    task = {"resultType": "complete", "taskId": "t-1", "status": "completed"}
    result = {"content": [{"type": "text", "text": json.dumps(["x"] * 20_000)}]}
    exchange.result({**task, "result": result, "inputRequests": {"who": FORM}})


def accept(exchange: Exchange) -> None:
    exchange.result({"resultType": "complete"})


@pytest.fixture
def site() -> Generator[Site]:
    with serve_web(
        tools_call=begin, tasks_get=look, tasks_update=accept, tasks_cancel=accept
    ) as site:
        yield site


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
async def served(site: Site, stack: AsyncExitStack, tmp_path: Path) -> Served:
    target = UrlTarget("web", site.url)
    return await stack.enter_async_context(serve(target, store=tmp_path / "a.db", keys=KEYS))


@pytest.fixture
async def client(served: Served, stack: AsyncExitStack) -> RawClient:
    return await stack.enter_async_context(raw_client(served.url, MODERN, capabilities=CAN))


async def test_a_task_goes_by_a_name_that_tells_nothing(client: RawClient, site: Site) -> None:
    begun = await client.call("web__get_echo")
    found = await client.result("tasks/get", {"taskId": begun["taskId"]})

    assert (begun["resultType"], begun["status"]) == ("task", "working")
    assert "t-1" not in begun["taskId"]
    assert found["taskId"] == begun["taskId"]
    (call,) = site.asked("tools/call")
    offered = call.body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert offered["extensions"] == {TASKS: {}}


async def test_what_a_task_brings_is_cut_and_labelled_as_a_call_is(client: RawClient) -> None:
    begun = await client.call("web__get_echo")
    found = await client.result("tasks/get", {"taskId": begun["taskId"]})

    assert len(found["result"]["content"][0]["text"]) <= LIMIT
    assert found["result"]["_meta"]["truncated"] is True
    assert found["inputRequests"]["who"]["params"]["message"] == "The server “web” asks: Who?"


LOOSE = {"content": [{"type": "text", "text": "x" * 90_000}], "structuredContent": {"a": "secret"}}


def brings(result: dict[str, Any]) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.result(result)


async def test_what_comes_later_brings_nothing_yet_and_no_result_says_so(
    client: RawClient, site: Site
) -> None:
    task = {"resultType": "task", "taskId": "t-1", "status": "working", "ttl": None}
    more = {"result": LOOSE, "statusMessage": "x" * 9_000, "_meta": {"a": 1}}
    site.faults["tools_call"] = brings({**task, **LOOSE, **more})
    begun = await client.call("web__get_echo")
    assert set(begun) == {"resultType", "taskId", "status", "_meta"}
    assert begun["_meta"]["a"] == 1

    name = {"taskId": begun["taskId"]}
    done = {"resultType": "complete", "taskId": "t-1", "status": "completed", **LOOSE}
    for result in ({"resultType": "task", **LOOSE}, [LOOSE], "x"):
        site.faults["tasks_get"] = brings({**done, "result": result})
        told = await client.ask("tasks/get", name)
        assert "withheld" in told["error"]["message"]
    site.faults["tasks_get"] = brings({**done, "result": None})
    found = await client.result("tasks/get", name)
    assert (found["status"], found["result"]) == ("completed", None)
    assert "content" not in found


async def test_a_task_is_answered_and_cancelled_at_its_server(
    client: RawClient, site: Site
) -> None:
    begun = await client.call("web__get_echo")
    answers = {"who": {"action": "accept", "content": {}}}
    task = {"taskId": begun["taskId"]}

    await client.result("tasks/update", {**task, "inputResponses": answers})
    await client.result("tasks/cancel", task)

    (update,), (cancel,) = site.asked("tasks/update"), site.asked("tasks/cancel")
    assert update.body["params"]["inputResponses"] == answers
    assert cancel.body["params"]["taskId"] == "t-1"


@pytest.mark.parametrize("name", ["t-1", "", "0.00"])
async def test_a_task_of_nobody_is_unknown(client: RawClient, name: str, site: Site) -> None:
    message = await client.ask("tasks/get", {"taskId": name})

    assert message["error"] == {"code": -32602, "message": "Unknown task"}
    assert site.asked("tasks/get") == []


async def test_a_task_of_another_caller_is_unknown(client: RawClient) -> None:
    sealed = KEYS.seal(
        "task", {"tool": "web__get_echo", "id": "t-1"}, bound={"subject": "somebody"}
    )

    message = await client.ask("tasks/get", {"taskId": sealed})

    assert message["error"]["message"] == "Unknown task"


async def test_a_client_without_the_extension_is_told_what_it_lacks(
    served: Served, client: RawClient, stack: AsyncExitStack
) -> None:
    begun = await client.call("web__get_echo")
    plain = await stack.enter_async_context(raw_client(served.url, MODERN, capabilities={}))
    older = await stack.enter_async_context(raw_client(served.url, OLD, capabilities=CAN))

    envelope = Envelope(MODERN, {"name": "plain", "version": "1"}, {})
    params = {"taskId": begun["taskId"]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": envelope.params(params)}
    response = await plain.post(json.dumps(body), **envelope.headers("tasks/get", params))
    lacking = response.json()
    unknown = await older.ask("tasks/get", {"taskId": begun["taskId"]})

    assert (response.status_code, lacking["error"]["code"]) == (400, -32021)
    assert lacking["error"]["data"]["requiredCapabilities"] == {"extensions": {TASKS: {}}}
    assert unknown["error"]["code"] == -32601
