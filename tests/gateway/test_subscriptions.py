"""Servers' notifications reach the clients that subscribe to them, in all pairs of eras."""

import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.subscriptions import ResourceUpdated, ToolsListChanged
from tests.connect.servers import telling
from tests.connect.servers.web import MODERN, OLD, Exchange, serve_web, speak
from tests.connect.serving import ENVIRONMENT, SERVERS, RawClient, faulty, raw_client, until
from tests.gateway.asking import asking_server
from tests.gateway.serving import Served, serve
from tests.gateway.test_main_job import text

from sayso.connect import CommandTarget, UrlTarget
from sayso.gateway import connection as connection_module

pytestmark = pytest.mark.anyio

PROBLEMS = "io.sayso/problems"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@pytest.fixture(scope="module", params=["old", "new"])
def age(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module", params=["stdio", "http"])
async def served(
    request: pytest.FixtureRequest, age: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Served]:
    """A gateway before a server of either era, over either transport."""
    store = tmp_path_factory.mktemp("store") / "sayso.db"
    async with (
        asking_server(request.param, is_old=age == "old", kind=telling) as target,
        serve(target, faulty("plain", "other"), store=store) as served,
        raw_client(served.url, MODERN) as client,
    ):
        # A server that is slow to start is not in the first list.
        with anyio.fail_after(30):
            while PROBLEMS in (await client.result("tools/list")).get("_meta", {}):
                pass
        yield served


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


class Ears:
    """The notifications that an older client gets."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    async def __call__(self, message: Any) -> None:
        self.heard.append(message)

    def of(self, kind: type[Any]) -> list[Any]:
        return [one for one in self.heard if isinstance(one, kind)]


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def test_an_older_client_is_told_that_tools_have_changed(
    served: Served, stack: AsyncExitStack
) -> None:
    ears = Ears()
    client = await stack.enter_async_context(
        Client(served.url, mode="legacy", message_handler=ears)
    )
    before = await names(client)
    await listening(served, 1)

    await client.call_tool("telling__grow")
    await until(lambda: bool(ears.of(types.ToolListChangedNotification)))

    assert len(await names(client) - before) == 1


async def listening(served: Served, least: int) -> None:
    """Wait for clients that say by a request of their own that they listen."""
    notifier = served.gateway.upstreams.notifier
    await until(lambda: notifier.count >= least)


@pytest.mark.parametrize("busy_with", ["initialize", "tools/list"])
@pytest.mark.parametrize("era", [MODERN, OLD])
async def test_who_was_given_a_list_without_a_slow_server_is_told_when_it_is_there(
    era: str, busy_with: str, tmp_path: Path, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "_PATIENCE_SECONDS", 0.1)
    method = "server/discover" if (era, busy_with) == (MODERN, "initialize") else busy_with
    goes_on = threading.Event()

    def answer(exchange: Exchange) -> None:
        goes_on.wait(60)
        speak(era, exchange)

    site = stack.enter_context(serve_web(era, **{method.replace("/", "_"): answer}))
    stack.callback(goes_on.set)
    served = await stack.enter_async_context(
        serve(UrlTarget("slow", site.url), store=tmp_path / "a.db")
    )
    ears = Ears()
    client = await stack.enter_async_context(
        Client(served.url, mode="legacy", message_handler=ears)
    )
    assert await names(client) == set()
    await listening(served, 1)

    goes_on.set()
    await until(lambda: bool(ears.of(types.ToolListChangedNotification)))

    assert await names(client) == {"slow__get_echo", "slow__add_note"}


LATE = """
import pathlib, runpy, sys
if not pathlib.Path(sys.argv[2]).exists():
    sys.exit("there is no network yet")
runpy.run_path(sys.argv[3], run_name="__main__")
"""


async def test_a_server_that_could_not_be_had_is_tried_again_for_those_who_listen(
    tmp_path: Path, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.gateway.backoff._PAUSE_SECONDS", 0.1)
    words = ("-c", LATE, "plain", str(tmp_path / "network"), str(SERVERS / "faulty.py"))
    target = CommandTarget("late", sys.executable, words, ENVIRONMENT)
    served = await stack.enter_async_context(serve(target, store=tmp_path / "a.db"))
    ears = Ears()
    client = await stack.enter_async_context(
        Client(served.url, mode="legacy", message_handler=ears)
    )
    assert await names(client) == set()
    await listening(served, 1)
    await until(lambda: served.gateway.upstreams.health()[0].failed > 2)

    (tmp_path / "network").touch()
    await until(lambda: bool(ears.of(types.ToolListChangedNotification)))

    assert "late__get_echo" in await names(client)


async def test_a_client_of_today_is_told_that_tools_have_changed(
    served: Served, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(Client(served.url, mode=MODERN))
    before = await names(client)
    stream = await stack.enter_async_context(client.listen(tools_list_changed=True))

    await client.call_tool("telling__grow")
    with anyio.fail_after(60):
        event = await anext(aiter(stream))

    assert isinstance(event, ToolsListChanged)
    assert len(await names(client) - before) == 1


async def test_an_older_client_hears_of_the_resources_that_it_follows(
    served: Served, age: str, stack: AsyncExitStack
) -> None:
    ears = Ears()
    client = await stack.enter_async_context(
        Client(served.url, mode="legacy", message_handler=ears)
    )
    await listening(served, 1)
    session: Any = client.session
    subscribing = types.SubscribeRequest(params=types.SubscribeRequestParams(uri="notes://a"))
    await session.send_request(subscribing, types.EmptyResult)

    for uri in ("notes://b", "notes://a"):
        await client.call_tool("telling__touch", {"uri": uri})
    await until(lambda: bool(ears.of(types.ResourceUpdatedNotification)))
    leaving = types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri="notes://a"))
    await session.send_request(leaving, types.EmptyResult)

    (updated,) = ears.of(types.ResourceUpdatedNotification)
    assert updated.params.uri == "notes://a"
    if age == "old":
        with anyio.fail_after(60):
            while "notes://a" in text(await client.call_tool("telling__asked_for")):
                await anyio.sleep(0.005)


async def test_a_client_of_today_hears_of_the_resources_that_it_follows(
    served: Served, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(Client(served.url, mode=MODERN))
    wanted = ["notes://a", "notes://none"]
    stream = await stack.enter_async_context(client.listen(resource_subscriptions=wanted))

    for uri in ("notes://b", "notes://a"):
        await client.call_tool("telling__touch", {"uri": uri})
    with anyio.fail_after(60):
        event = await anext(aiter(stream))

    assert isinstance(event, ResourceUpdated)
    assert event.uri == "notes://a"
    assert stream.honored.resource_subscriptions == ["notes://a"]


async def test_an_older_client_hears_what_is_logged_from_its_level_on(
    served: Served, age: str, stack: AsyncExitStack
) -> None:
    logged: list[str] = []

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        logged.append(params.level)

    client = await stack.enter_async_context(
        Client(served.url, mode="legacy", logging_callback=log)
    )
    session: Any = client.session
    await session.send_request(
        types.SetLevelRequest(params=types.SetLevelRequestParams(level="warning")),
        types.EmptyResult,
    )
    await client.call_tool("telling__say")
    if age == "old":
        await until(lambda: len(logged) == 2)
        assert logged == ["warning", "error"]


async def test_a_client_of_today_hears_what_is_logged_as_it_says_with_each_call(
    served: Served, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(served.url, MODERN))
    level = {"io.modelcontextprotocol/logLevel": "warning"}
    call: dict[str, Any] = {"name": "telling__say", "arguments": {}}

    silent = await client.open("tools/call", call)
    loud = await client.open("tools/call", {**call, "_meta": level})

    assert "result" in await silent.next()
    told = [await loud.next() for _ in range(3)]
    assert [one.get("params", {}).get("level") for one in told] == ["warning", "error", None]
    assert "result" in told[-1]
    await silent.close()
    await loud.close()


@pytest.fixture
async def raw(served: Served, stack: AsyncExitStack) -> RawClient:
    return await stack.enter_async_context(raw_client(served.url, MODERN))


async def test_a_stream_is_acknowledged_stamped_and_filtered_and_ends_with_a_result(
    served: Served, raw: RawClient
) -> None:
    params = {
        "notifications": {"resourceSubscriptions": ["notes://a"], "taskIds": ["t"], "odd": True}
    }
    stream = await raw.open("subscriptions/listen", params)
    acknowledged = await stream.next()
    await raw.call("telling__grow")
    await raw.call("telling__touch", {"uri": "notes://a"})
    updated = await stream.next()
    served.gateway.upstreams.notifier.close()
    ended = await stream.next()
    served.gateway.upstreams.notifier.is_closed = False

    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["notifications"] == {"resourceSubscriptions": ["notes://a"]}
    assert updated["method"] == "notifications/resources/updated"
    assert updated["params"]["uri"] == "notes://a"
    assert ended["result"]["resultType"] == "complete"
    for params in (acknowledged["params"], updated["params"], ended["result"]):
        assert params["_meta"][SUBSCRIPTION] == 7
    await stream.close()


async def test_a_stream_must_be_taken_as_a_stream(raw: RawClient) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}
    headers = {"accept": "application/json", "mcp-protocol-version": MODERN}

    response = await raw.http.post(raw.url, json=body, headers=headers)

    assert response.status_code == 406


async def test_a_client_that_leaves_is_forgotten(served: Served, raw: RawClient) -> None:
    before = served.gateway.upstreams.notifier.count
    stream = await raw.open("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    await stream.next()
    await stream.close()

    notifier = served.gateway.upstreams.notifier
    await until(lambda: notifier.count == before)


@pytest.mark.parametrize("era", [MODERN, OLD])
async def test_what_an_era_does_not_have_is_not_found(
    served: Served, era: str, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(served.url, era, capabilities={}))
    if era == MODERN:
        asked = [("logging/setLevel", {"level": "info"}), ("resources/subscribe", {"uri": "a://b"})]
    else:
        asked = [("subscriptions/listen", {"notifications": {}})]

    for method, params in asked:
        assert (await client.ask(method, params))["error"]["code"] == -32601


async def test_a_resource_that_nobody_has_and_a_level_that_is_none_are_refused(
    served: Served, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(served.url, OLD))

    unknown = await client.ask("resources/subscribe", {"uri": "nothing://here"})
    level = await client.ask("logging/setLevel", {"level": "loud"})

    assert unknown["error"]["message"] == "Resource not found: nothing://here"
    assert level["error"]["code"] == -32602


async def test_one_server_alone_tells_only_of_itself(tmp_path: Path, stack: AsyncExitStack) -> None:
    one = await stack.enter_async_context(asking_server("http", is_old=False, kind=telling))
    other = await stack.enter_async_context(asking_server("http", is_old=False))
    served = await stack.enter_async_context(serve(one, other, store=tmp_path / "a.db"))
    base = served.url.removesuffix("/mcp")
    wanted = {"notifications": {"toolsListChanged": True}}
    streams: list[Any] = []
    for name in ("asking", "telling"):
        url = f"{base}/servers/{name}/mcp"
        client = await stack.enter_async_context(raw_client(url, MODERN))
        await client.result("tools/list")
        streams.append(await client.open("subscriptions/listen", wanted))
        await streams[-1].next()
    await client.call("grow")

    assert (await streams[1].next())["method"] == "notifications/tools/list_changed"
    served.gateway.upstreams.notifier.close()
    assert "result" in await streams[0].next()
    for stream in streams:
        await stream.close()
