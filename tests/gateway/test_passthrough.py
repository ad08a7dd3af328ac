"""Content that passes the gateway unchanged, and content that must not, in both eras."""

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference
from tests.connect.servers.faulty import ODD_TOOLS, WRITES
from tests.connect.servers.web import MODERN, OLD, Answer, Site, serve_web
from tests.connect.serving import (
    ENVIRONMENT,
    RawClient,
    faulty,
    raw_client,
    real_command,
    until_there,
)
from tests.gateway.serving import ERAS, Served, serve

from sayso.connect import CommandTarget, UrlTarget

pytestmark = pytest.mark.anyio

DEMO = CommandTarget("demo", sys.executable, ("-m", "sayso.demo.server"), ENVIRONMENT)


@pytest.fixture(scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    """One gateway over servers of every kind, of which one is dead."""
    targets = [
        DEMO,
        faulty("plain", "old"),
        faulty("modern", "new"),
        faulty("odd", "odd"),
        faulty("exits", "dead"),
        real_command(is_old=False),
    ]
    store = tmp_path_factory.mktemp("store") / "sayso.db"
    async with serve(*targets, store=store) as served:
        yield served


LIVE = {"demo", "old", "new", "odd", "real"}


async def all_there(lists: Callable[[], Awaitable[Iterable[str]]]) -> None:
    """Ask for the tools until those of all servers are listed.

    A list waits for a server that starts for five seconds, and on a busy machine some take longer.
    Each client has processes of its own.
    """
    with anyio.fail_after(60):
        while {name.partition("__")[0] for name in await lists()} < LIVE:
            await anyio.sleep(0.005)


@pytest.fixture(scope="module", params=ERAS)
async def client(request: pytest.FixtureRequest, served: Served) -> AsyncGenerator[Client]:
    """The SDK's client."""
    async with Client(served.url, mode=request.param) as client:

        async def names() -> Iterable[str]:
            return [tool.name for tool in (await client.list_tools()).tools]

        await all_there(names)
        yield client


@pytest.fixture(scope="module", params=[MODERN, OLD])
async def raw(request: pytest.FixtureRequest, served: Served) -> AsyncGenerator[RawClient]:
    """A client that sees every byte."""
    async with raw_client(served.url, request.param) as client:

        async def names() -> Iterable[str]:
            return [tool["name"] for tool in (await client.result("tools/list"))["tools"]]

        await all_there(names)
        yield client


async def test_the_prompts_of_all_servers_are_listed_under_their_servers_name(
    client: Client,
) -> None:
    (prompt,) = (await client.list_prompts()).prompts

    assert prompt.name == "demo__chase_invoice"
    assert prompt.title == "Chase an invoice"
    assert prompt.arguments is not None
    assert [one.name for one in prompt.arguments] == ["invoice_id"]


async def test_a_prompt_is_had_from_its_server(client: Client) -> None:
    ref = PromptReference(type="ref/prompt", name="demo__chase_invoice")
    found = await client.complete(ref, {"name": "invoice_id", "value": ""})
    first = found.completion.values[0]

    prompt = await client.get_prompt("demo__chase_invoice", {"invoice_id": first})

    assert f"Invoice {first}" in getattr(prompt.messages[0].content, "text", "")


@pytest.mark.parametrize("name", ["nothing", "nobody__chase_invoice", "chase_invoice"])
async def test_a_prompt_of_no_server_is_unknown(client: Client, name: str) -> None:
    with pytest.raises(MCPError, match=f"Unknown prompt: {name}"):
        await client.get_prompt(name)


async def test_a_servers_own_error_about_a_prompt_is_passed_on(client: Client) -> None:
    with pytest.raises(MCPError, match="'none' is not an unpaid invoice"):
        await client.get_prompt("demo__chase_invoice", {"invoice_id": "none"})


async def test_resources_and_templates_are_listed_and_read_as_they_are(client: Client) -> None:
    resources = (await client.list_resources()).resources
    templates = (await client.list_resource_templates()).resource_templates
    about = await client.read_resource("demo://about")
    customer = await client.read_resource("customers://1")

    assert [str(one.uri) for one in resources] == ["demo://about"]
    assert [one.uri_template for one in templates] == ["customers://{customer_id}"]
    assert "invented design studio" in getattr(about.contents[0], "text", "")
    assert '"customerId": 1' in getattr(customer.contents[0], "text", "")


async def test_a_templates_argument_is_completed_by_its_server(client: Client) -> None:
    ref = ResourceTemplateReference(type="ref/resource", uri="customers://{customer_id}")

    found = await client.complete(ref, {"name": "customer_id", "value": "1"})

    assert found.completion.values[0] == "1"


@pytest.mark.parametrize("method", ["resources/read", "completion/complete"])
async def test_a_resource_of_no_server_is_not_found_in_the_words_of_the_era(
    raw: RawClient, method: str
) -> None:
    ref = {"type": "ref/resource", "uri": "nothing://here"}
    argument = {"name": "a", "value": ""}
    params = {"uri": ref["uri"]} if method == "resources/read" else {"ref": ref}

    message = await raw.ask(method, {**params, "argument": argument})

    # 2026-07-28 has given up the code of its own.
    assert message["error"]["code"] == (-32602 if raw.era == MODERN else -32002)
    assert message["error"]["message"] == "Resource not found: nothing://here"


async def test_a_dead_server_leaves_the_others_and_the_list_tells_of_it(raw: RawClient) -> None:
    listed = await raw.result("tools/list")

    servers = {tool["name"].partition("__")[0] for tool in listed["tools"]}
    assert servers == LIVE
    (problem,) = listed["_meta"]["io.sayso/problems"]
    assert problem.startswith("dead")
    assert "the server ended before it answered" in problem
    assert "sk-0123456789" not in problem
    result = await raw.call("dead__anything")
    assert result["isError"]
    assert "cannot be reached" in result["content"][0]["text"]
    message = await raw.ask("prompts/get", {"name": "dead__anything"})
    assert message["error"]["message"] == "the server “dead” cannot be reached"


async def test_what_2026_07_28_wants_around_results_stands_there_and_nowhere_else(
    raw: RawClient,
) -> None:
    listed = await raw.result("tools/list")
    called = await raw.call("old__get_echo", {"a": 1})

    for result in (listed, called):
        assert result.get("resultType") == ("complete" if raw.era == MODERN else None)
        assert ("io.modelcontextprotocol/serverInfo" in result.get("_meta", {})) is (
            raw.era == MODERN
        )
    assert listed.get("cacheScope") == ("private" if raw.era == MODERN else None)


@pytest.mark.parametrize("server", ["old", "new"])
async def test_arrays_nulls_and_unknown_keys_pass_in_both_directions(
    raw: RawClient, server: str
) -> None:
    arguments = {"a": None, "b": [1.5, {"ü": "\u202e"}], "c": {}}

    array = await raw.call(f"{server}__get_array")
    echo = await raw.call(f"{server}__get_echo", arguments)

    assert array["structuredContent"] == [1, None, "é"]
    assert "isError" not in array
    assert echo["structuredContent"] == arguments
    assert "x-unknown" in echo


@pytest.mark.parametrize("server", ["old", "new"])
async def test_unknown_annotations_stay_beside_the_hints_that_count(
    raw: RawClient, server: str
) -> None:
    tools = {tool["name"]: tool for tool in (await raw.result("tools/list"))["tools"]}

    annotations = tools[f"{server}__add_hang"]["annotations"]
    assert annotations["x-vendor"] == WRITES["x-vendor"]
    assert annotations["readOnlyHint"] is False
    assert annotations["destructiveHint"] is False


async def test_hints_of_any_type_become_booleans_and_stay_on_view(raw: RawClient) -> None:
    tools = {tool["name"]: tool for tool in (await raw.result("tools/list"))["tools"]}

    for entry in ODD_TOOLS:
        tool = tools[f"odd__{entry['name']}"]
        said = entry["annotations"]["readOnlyHint"]
        assert tool["annotations"]["readOnlyHint"] is (said is True)
        assert all(
            isinstance(value, bool)
            for name, value in tool["annotations"].items()
            if name.endswith("Hint")
        )
        assert tool["annotations"]["x-vendor"] == {"deep": [1, None, "é"]}
        assert tool["x-unknown"] == [{"a": None}]
        assert tool["_meta"]["io.sayso/intent"]["declared"]["readOnlyHint"] == said


async def test_a_servers_own_protocol_error_is_passed_on(raw: RawClient) -> None:
    params = {"name": "old__get_refused", "arguments": {}}

    message = await raw.ask("tools/call", params)

    assert message["error"] == {"code": -32000, "message": "out of paper", "data": {"tray": 2}}


async def test_progress_of_a_server_reaches_the_client(client: Client) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def told_of(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    for name in ("real__get_slowly", "old__get_progress"):
        await client.call_tool(name, progress_callback=told_of)

    assert sorted(told) == [(1.0, 2.0, "step 1")] * 2 + [(2.0, 2.0, "step 2")] * 2


async def test_a_call_that_the_client_cancels_is_cancelled_at_the_server(
    client: Client, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "real__wait", {"journal": str(journal)})
        await until_there(journal, "begun")
        group.cancel_scope.cancel()

    await until_there(journal, "cancelled")


async def test_a_tool_that_a_server_adds_is_there_when_it_says_so(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serve(faulty("plain", "s"), store=tmp_path / "a"))
        client = await stack.enter_async_context(Client(served.url))
        before = {tool.name for tool in (await client.list_tools()).tools}
        await client.call_tool("s__add_change")
        after = {tool.name for tool in (await client.list_tools()).tools}

    assert after - before == {"s__get_new"}


@pytest.fixture(params=[MODERN, OLD])
def site(request: pytest.FixtureRequest) -> Generator[Site]:
    """A server over HTTP that keeps every header it is sent."""
    with serve_web(request.param) as site:
        yield site


@pytest.mark.parametrize("era", [MODERN, OLD])
async def test_the_callers_authorization_never_reaches_a_server(
    site: Site, era: str, tmp_path: Path
) -> None:
    target = UrlTarget("web", site.url, {"X-Team": "ours"})
    theirs = {"Authorization": "Bearer callers", "Cookie": "callers=1", "X-Api-Key": "callers"}
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serve(target, store=tmp_path / "sayso.db"))
        client = await stack.enter_async_context(raw_client(served.url, era, **theirs))
        await client.result("tools/list")
        result = await client.call("web__get_echo", {"a": 1}, mine=True, progressToken=3)

    assert result["structuredContent"] == {"a": 1}
    assert "callers" not in str([one.headers for one in site.requests])
    (call,) = site.asked("tools/call")
    assert call.headers["x-team"] == "ours"
    meta = call.body["params"]["_meta"]
    assert "mine" not in meta
    assert meta.pop("progressToken", 3) != "callers"
    info = meta.get("io.modelcontextprotocol/clientInfo")
    assert info is None or info["name"] == "sayso"


async def test_a_configured_authorization_is_sent_to_its_server_alone(tmp_path: Path) -> None:
    with serve_web() as one, serve_web() as other:
        targets = [
            UrlTarget("one", one.url, {"Authorization": "Bearer one"}),
            UrlTarget("other", other.url),
        ]
        async with AsyncExitStack() as stack:
            served = await stack.enter_async_context(serve(*targets, store=tmp_path / "sayso.db"))
            client = await stack.enter_async_context(raw_client(served.url, MODERN))
            await client.result("tools/list")
        assert {site.headers.get("authorization") for site in one.requests} == {"Bearer one"}
        assert {site.headers.get("authorization") for site in other.requests} == {None}


async def test_marked_arguments_become_headers_for_a_modern_server(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        site = stack.enter_context(serve_web())
        target = UrlTarget("web", site.url)
        served = await stack.enter_async_context(serve(target, store=tmp_path / "sayso.db"))
        client = await stack.enter_async_context(raw_client(served.url, OLD))
        await client.call("web__get_echo", {"region": "eu-west"})
        (call,) = site.asked("tools/call")

    assert call.headers["mcp-param-region"] == "eu-west"
    assert call.headers["mcp-name"] == "get_echo"


async def test_entries_that_are_no_prompts_spoil_nothing(tmp_path: Path) -> None:
    def prompts(exchange: Any) -> None:
        exchange.result({"prompts": ["none", {"title": "nameless"}, {"name": "good"}, {"name": 7}]})

    def discover(exchange: Any) -> None:
        capabilities: dict[str, Any] = {"prompts": {}, "resources": {}}
        exchange.result({"supportedVersions": [MODERN], "capabilities": capabilities})

    def resources(exchange: Any) -> None:
        exchange.result({"resources": [None, {"uri": "a://b"}], "resourceTemplates": [[]]})

    faults: dict[str, Answer] = {
        "prompts_list": prompts,
        "server_discover": discover,
        "resources_list": resources,
    }
    async with AsyncExitStack() as stack:
        site = stack.enter_context(serve_web(MODERN, **faults, resources_templates_list=resources))
        target = UrlTarget("web", site.url)
        served = await stack.enter_async_context(serve(target, store=tmp_path / "sayso.db"))
        client = await stack.enter_async_context(raw_client(served.url, MODERN))
        found = await client.result("prompts/list")
        listed = await client.result("resources/list")
        missing = await client.ask("resources/read", {"uri": "c://d"})

    assert found["prompts"] == [{"name": "web__good"}]
    assert listed["resources"] == [{"uri": "a://b"}]
    # Whether it is there, the only server must say; this one has no answer to that.
    assert missing["error"]["message"] == "the server “web” gave no answer"


async def test_a_prompt_goes_to_the_server_that_lists_it_where_two_names_fit(
    tmp_path: Path,
) -> None:
    def prompts(exchange: Any) -> None:
        exchange.result({"prompts": [{"name": "good"}]})

    def none(exchange: Any) -> None:
        exchange.result({"prompts": []})

    def discover(exchange: Any) -> None:
        exchange.result({"supportedVersions": [MODERN], "capabilities": {"prompts": {}}})

    def get(exchange: Any) -> None:
        exchange.result({"messages": [], "description": exchange.body["params"]["name"]})

    async with AsyncExitStack() as stack:
        one = stack.enter_context(serve_web(server_discover=discover, prompts_list=none))
        other = stack.enter_context(
            serve_web(server_discover=discover, prompts_list=prompts, prompts_get=get)
        )
        targets = [UrlTarget("a", one.url), UrlTarget("a__b", other.url)]
        served = await stack.enter_async_context(serve(*targets, store=tmp_path / "sayso.db"))
        client = await stack.enter_async_context(raw_client(served.url, MODERN))
        found = await client.result("prompts/get", {"name": "a__b__good"})

    assert found["description"] == "good"
