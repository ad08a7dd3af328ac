"""Servers and callers that the policy switches off get no list, request or notification."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.connect.servers import whole
from tests.connect.servers.web import MODERN
from tests.connect.serving import SERVERS, faulty, raw_client, until
from tests.gateway.asking import REACHING
from tests.gateway.serving import Served, serve

from sayso.connect import CommandTarget
from sayso.gateway import make_dispatcher
from sayso.gateway.frontends.stdio import StdioFrontend
from sayso.gateway.tasks import TASKS, task_of
from sayso.policy import LOCAL, Policy, Principal, load_policy

pytestmark = pytest.mark.anyio

LEGACY = "2025-11-25"
SERVER_OFF = load_policy('mode = "observe"\n[off]\nservers = ["whole"]')
CALLER_OFF = load_policy(f'mode = "observe"\n[off]\nsubjects = ["{LOCAL}"]')
SEARCH = load_policy('tools = "search"')
SEARCH_OFF = load_policy('tools = "search"\n[off]\nservers = ["whole"]')
CAN = {"elicitation": {}, "extensions": {TASKS: {}}}
TASK = "(a task)"

PROMPT = {"type": "ref/prompt", "name": "whole__mark"}
RESOURCE = {"type": "ref/resource", "uri": "whole://of/{id}"}
ARGUMENT = {"name": "id", "value": "a"}

REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("tools/call", {"name": "whole__get_mark", "arguments": {}}),
    ("tools/call", {"name": "whole__ask", "arguments": {}}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "whole__mark"}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": whole.URI}),
    ("resources/read", {"uri": "whole://of/7"}),
    ("completion/complete", {"ref": PROMPT, "argument": ARGUMENT}),
    ("completion/complete", {"ref": RESOURCE, "argument": ARGUMENT}),
    ("resources/subscribe", {"uri": whole.URI}),
    ("resources/unsubscribe", {"uri": whole.URI}),
    ("logging/setLevel", {"level": "debug"}),
    ("tasks/get", {"taskId": TASK}),
    ("tasks/update", {"taskId": TASK, "inputResponses": {}}),
    ("tasks/cancel", {"taskId": TASK}),
    ("server/discover", {}),
    ("ping", {}),
]
"""Every request that a client can make, but for the stream of `subscriptions/listen`."""


@dataclass
class Rules:
    """A policy that a test changes while the gateway runs."""

    policy: Policy

    def __call__(self) -> Policy:
        return self.policy


@dataclass
class Place:
    """A gateway before a server that answers everything, and what that server has heard."""

    served: Served
    rules: Rules
    journal: Path

    @property
    def heard(self) -> list[str]:
        return self.journal.read_text().split()

    def without_task(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters with a task that this caller has had from the server."""
        if params.get("taskId") != TASK:
            return params
        told = {"taskId": "1"}
        keys, name = self.served.gateway.keys, "whole__get_mark"
        return {**params, "taskId": task_of(keys, Principal(LOCAL), name, told)["taskId"]}


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture(params=["alone", "among others"])
async def place(request: pytest.FixtureRequest, tmp_path: Path, stack: AsyncExitStack) -> Place:
    """The server is connected and its lists are known before anything is switched off."""
    journal, rules = tmp_path / "journal", Rules(Policy())
    words = (str(SERVERS / "whole.py"), str(journal))
    target = CommandTarget("whole", sys.executable, words, REACHING)
    others = [faulty("plain", "other")] if request.param == "among others" else []
    served = await stack.enter_async_context(
        serve(target, *others, store=tmp_path / "a.db", policy=rules)
    )
    place = Place(served, rules, journal)
    async with raw_client(served.url, LEGACY) as client:
        with anyio.fail_after(30):
            while "whole__shout" not in json.dumps(await client.ask("tools/list")):
                pass
        for method in ("prompts/list", "resources/list", "resources/templates/list"):
            assert whole.MARK in json.dumps(await client.ask(method))
    return place


@pytest.mark.parametrize("era", [MODERN, LEGACY])
async def test_every_request_finds_a_switched_off_server_as_one_that_is_not_there(
    place: Place, era: str, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(place.served.url, era, capabilities=CAN))
    place.rules.policy = SERVER_OFF
    before = place.heard

    for method, params in REQUESTS:
        said = json.dumps(await client.ask(method, place.without_task(params)))
        assert whole.MARK not in said, method
        assert "tools/call" not in method or "Unknown tool" in said

    assert place.heard == before


@pytest.mark.parametrize("era", [MODERN, LEGACY])
async def test_every_request_of_a_switched_off_caller_is_refused(
    place: Place, era: str, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(place.served.url, era, capabilities=CAN))
    place.rules.policy = CALLER_OFF
    before = place.heard

    for method, params in [*REQUESTS, ("initialize", {}), ("subscriptions/listen", {})]:
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        answer = await client.post(
            json.dumps(message), **{"mcp-protocol-version": era}, **client.session
        )
        assert answer.status_code == 403, method
        assert "switches this caller off" in answer.json()["error"]["message"]
    stream = await client.http.get(client.url, headers=client.session)
    assert stream.status_code == 403
    response = await client.tell(id="asked", result={})
    assert response.status_code == 403

    assert place.heard == before
    records = place.served.gateway.store.records
    refused = [json.loads(one.body) for one in await records.newest(limit=10)]
    assert [one["outcome"] for one in refused] == ["denied", "denied"]


def test_no_request_of_the_gateway_is_missing_in_these_tests(tmp_path: Path) -> None:
    async def routes() -> set[str]:
        async with serve(faulty("plain"), store=tmp_path / "a.db") as served:
            return {*make_dispatcher(served.gateway).router.routes}

    assert anyio.run(routes) - {method for method, _ in REQUESTS} == {"subscriptions/listen"}


@pytest.mark.parametrize("era", [MODERN, LEGACY])
async def test_a_switched_off_server_has_no_address_of_its_own(
    place: Place, era: str, stack: AsyncExitStack
) -> None:
    url = place.served.url.replace("/mcp", "/servers/whole/mcp")
    client = await stack.enter_async_context(raw_client(url, era, capabilities=CAN))
    assert "get_mark" in json.dumps(await client.ask("tools/list"))
    place.rules.policy = SERVER_OFF
    before = place.heard

    for method, _ in REQUESTS:
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {}}
        answer = await client.post(json.dumps(message), **client.session)
        assert answer.status_code == 404, method

    assert place.heard == before


@pytest.mark.parametrize("era", [MODERN, LEGACY])
async def test_a_search_does_not_find_the_tools_of_a_switched_off_server(
    place: Place, era: str, stack: AsyncExitStack
) -> None:
    place.rules.policy = SEARCH
    client = await stack.enter_async_context(raw_client(place.served.url, era))
    assert "whole__get_mark" in json.dumps(await client.call("search_tools", {"query": "mark"}))
    place.rules.policy = SEARCH_OFF
    before = place.heard

    assert "whole" not in json.dumps(await client.call("search_tools"))
    said = json.dumps(await client.call("call_read_tool", {"name": "whole__get_mark"}))

    assert "Unknown tool" in said
    assert place.heard == before


async def test_a_client_that_listens_hears_nothing_of_a_server_that_is_switched_off(
    place: Place, stack: AsyncExitStack
) -> None:
    notifier = place.served.gateway.upstreams.notifier
    client = await stack.enter_async_context(raw_client(place.served.url, MODERN))
    wanted = {"toolsListChanged": True, "resourceSubscriptions": [whole.URI]}
    stream = await client.open("subscriptions/listen", {"notifications": wanted})
    stack.push_async_callback(stream.close)
    assert (await stream.next())["params"]["notifications"]["resourceSubscriptions"]

    place.rules.policy = SERVER_OFF
    notifier.tell("whole", None, "notifications/resources/updated", {"uri": whole.URI})
    notifier.tell("other", None, "notifications/tools/list_changed", {})

    assert (await stream.next())["method"] == "notifications/tools/list_changed"


async def test_a_new_policy_ends_the_server_and_tells_clients_that_lists_changed(
    place: Place, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(place.served.url, MODERN))
    wanted = {"notifications": {"toolsListChanged": True}}
    stream = await client.open("subscriptions/listen", wanted)
    stack.push_async_callback(stream.close)
    await stream.next()
    upstream = place.served.gateway.upstreams.owner("whole")
    assert upstream.health().connections == 1

    place.rules.policy = SERVER_OFF

    assert (await stream.next())["method"] == "notifications/tools/list_changed"
    await until(lambda: upstream.health().connections == 0)
    place.rules.policy = Policy()
    assert (await stream.next())["method"] == "notifications/tools/list_changed"
    with anyio.fail_after(30):
        while "whole__shout" not in json.dumps(await client.ask("tools/list")):
            pass


@pytest.mark.parametrize("is_asked_again", [False, True])
async def test_the_streams_of_a_caller_end_when_it_is_switched_off(
    place: Place, stack: AsyncExitStack, *, is_asked_again: bool
) -> None:
    client = await stack.enter_async_context(raw_client(place.served.url, MODERN))
    wanted = {"notifications": {"toolsListChanged": True}}
    stream = await client.open("subscriptions/listen", wanted)
    stack.push_async_callback(stream.close)
    await stream.next()

    place.rules.policy = CALLER_OFF
    if is_asked_again:
        place.served.gateway.upstreams.notifier.tell(
            "whole", None, "notifications/tools/list_changed", {}
        )

    assert "result" in await stream.next()


async def test_a_server_that_is_switched_off_during_a_call_can_ask_nobody(
    place: Place, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(place.served.url, MODERN, capabilities=CAN))
    call: dict[str, Any] = {"name": "whole__ask", "arguments": {}}
    asked = await client.result("tools/call", call)
    assert asked["resultType"] == "input_required"
    before = place.heard

    place.rules.policy = SERVER_OFF
    (key,) = asked["inputRequests"]
    answers = {"inputResponses": {key: {"action": "accept", "content": {"secret": 1}}}}
    state = {"requestState": asked["requestState"]}
    await client.ask("tools/call", {**call, **answers, **state})

    heard = place.heard[len(before) :]
    assert "tools/call" not in heard
    assert "secret" not in place.journal.read_text()


async def test_a_question_that_waits_is_not_answered_once_its_server_is_switched_off(
    tmp_path: Path, stack: AsyncExitStack
) -> None:
    asks = '[[rules]]\nname = "ask"\neffect = "confirm"\n'
    rules = Rules(load_policy(asks))
    journal = tmp_path / "journal"
    words = (str(SERVERS / "whole.py"), str(journal))
    target = CommandTarget("whole", sys.executable, words, REACHING)
    served = await stack.enter_async_context(serve(target, store=tmp_path / "a.db", policy=rules))
    client = await stack.enter_async_context(raw_client(served.url, MODERN))
    approvals = served.gateway.guard.approvals
    said: list[dict[str, Any]] = []

    async def call() -> None:
        said.append(await client.call("whole__get_mark"))

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        with anyio.fail_after(30):
            while not (waiting := await approvals.pending(1)):
                await anyio.sleep(0.01)
        rules.policy = load_policy(f'{asks}[off]\nservers = ["whole"]')
        await allow(approvals, waiting[0].number)

    assert "switches the server or the caller off" in json.dumps(said)
    assert "tools/call" not in journal.read_text()


async def allow(approvals: Any, number: int) -> None:
    from sayso.approvals import Answer

    assert await approvals.answer(number, Answer(is_allowed=True, by="amy", channel="console"))


async def test_over_stdio_a_switched_off_caller_is_refused(place: Place) -> None:
    said: list[dict[str, Any]] = []

    async def write(line: bytes) -> None:
        said.append(json.loads(line))

    async def lines() -> AsyncGenerator[bytes]:
        hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "a"}}
        for number, (method, params) in enumerate([("initialize", hello), *REQUESTS]):
            if number == 1:
                await until(lambda: len(said) == 1)
                place.rules.policy = CALLER_OFF
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            yield json.dumps(message).encode()
        yield json.dumps({"jsonrpc": "2.0", "id": 99, "method": "initialize"}).encode()
        await until(lambda: len(said) == len(REQUESTS) + 2)

    door = StdioFrontend(make_dispatcher(place.served.gateway), Principal(LOCAL), write)
    await door.run(lines())

    assert "result" in said[0]
    assert all("switches this caller off" in one["error"]["message"] for one in said[1:])
