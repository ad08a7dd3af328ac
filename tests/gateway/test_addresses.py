"""Two servers that list the same URI are both readable at `/mcp`, and neither takes the other's."""

import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import anyio
import pytest
from tests.connect.servers.web import MODERN
from tests.connect.serving import SERVERS, RawClient, raw_client
from tests.gateway.asking import REACHING
from tests.gateway.serving import Served, serve

from sayso.connect import CommandTarget, RpcError
from sayso.errors import UnreachableError
from sayso.gateway.addresses import Address, Addresses
from sayso.gateway.notifications import Listener
from sayso.gateway.upstream_view import UpstreamView
from sayso.policy import LOCAL, Principal

pytestmark = pytest.mark.anyio

LEGACY = "2025-11-25"
INVALID_PARAMS = -32602
UPDATED = "notifications/resources/updated"


def resources(*uris: str) -> list[dict[str, Any]]:
    return [{"uri": uri} for uri in uris]


def templates(*uris: str) -> list[dict[str, Any]]:
    return [{"uriTemplate": uri} for uri in uris]


def test_a_uri_that_one_server_lists_stays_as_it_is() -> None:
    index = Addresses.of([("a", resources("n://1")), ("b", resources("n://2"))], [])

    assert index.show("a", "n://1") == "n://1"
    assert index.find("n://1") == Address("a", "n://1")
    assert index.find("n://3") is None
    assert index.show_link("b", "n://3") == "n://3"


def test_a_uri_that_several_servers_list_says_whose_it_is() -> None:
    index = Addresses.of([("a", resources("n://1")), ("b", resources("n://1"))], [])

    assert index.show("a", "n://1") == "sayso:a/n://1"
    assert index.find("sayso:b/n://1") == Address("b", "n://1", "sayso:b/")
    with pytest.raises(RpcError, match="sayso:a/n://1, sayso:b/n://1"):
        index.find("n://1")
    for unknown in ("sayso:c/n://1", "sayso:a/", "sayso:a", "sayso:"):
        assert index.find(unknown) is None


def test_a_server_that_lists_a_uri_twice_shares_it_with_no_other() -> None:
    index = Addresses.of([("a", resources("n://1", "n://1")), ("b", [])], [])

    assert index.show("a", "n://1") == "n://1"
    assert index.find("n://1") == Address("a", "n://1")


@pytest.mark.parametrize(
    "other", ["http://example.com/", "HTTP://Example.com", "http://ex\tample.com"]
)
def test_another_spelling_that_clients_take_for_the_same_uri_is_shared_too(other: str) -> None:
    index = Addresses.of([("a", resources("http://example.com")), ("b", resources(other))], [])

    assert index.show("b", other) == f"sayso:b/{other}"
    for uri in ("http://example.com", other):
        with pytest.raises(RpcError, match="several servers"):
            index.find(uri)


@pytest.mark.parametrize("forged", ["sayso:a/n://1", "SAYSO:a/n://1", "say\tso:a/n://1"])
def test_no_server_lists_a_qualified_form_of_another(forged: str) -> None:
    index = Addresses.of(
        [("a", resources("n://1")), ("lure", resources(forged))], [("lure", templates(forged))]
    )

    assert index.show("lure", forged) == f"sayso:lure/{forged}"
    assert index.show_template("lure", forged) == f"sayso:lure/{forged}"
    assert index.show_link("lure", forged) == f"sayso:lure/{forged}"
    assert index.find(f"sayso:lure/{forged}") == Address("lure", forged, "sayso:lure/")
    found = index.find(forged)
    assert found is None or found.server == "a"


@pytest.mark.parametrize("name", ["two words", "a/b", "ä", "a%2Fb"])
def test_any_name_of_a_server_leads_back_to_it(name: str) -> None:
    index = Addresses.of([(name, resources("n://1")), ("a", resources("n://1"))], [])

    found = index.find(index.show(name, "n://1"))

    assert found is not None
    assert (found.server, found.uri) == (name, "n://1")


@pytest.mark.parametrize(
    ("own", "of_other", "shown"),
    [
        ("n://{id}", templates("m://{id}"), "n://{id}"),
        ("n://{id}", templates("n://{id}"), "sayso:a/n://{id}"),
        ("n://{id}", templates("n://x/{id}"), "sayso:a/n://{id}"),
        ("n://x/{id}", templates("n://{id}"), "sayso:a/n://x/{id}"),
        ("n://{id}", resources("n://1"), "sayso:a/n://{id}"),
        ("N://{id}", templates("n://{id}"), "sayso:a/N://{id}"),
        ("n://Host/{id}", resources("n://host/1"), "sayso:a/n://Host/{id}"),
        ("n://x/{id}", resources("n://1"), "n://x/{id}"),
        ("{+any}", [], "sayso:a/{+any}"),
    ],
)
def test_a_template_says_whose_it_is_where_its_uris_may_be_anothers(
    own: str, of_other: list[dict[str, Any]], shown: str
) -> None:
    index = Addresses.of([("a", []), ("b", of_other)], [("a", templates(own)), ("b", of_other)])

    assert index.show_template("a", own) == shown


def test_a_link_leads_to_the_server_that_gave_it() -> None:
    lists = [("a", resources("n://1", "n://2")), ("b", resources("n://2", "n://3"))]
    index = Addresses.of(lists, [])

    links = [index.show_link("a", f"n://{number}") for number in (1, 2, 3, 4)]

    assert links == ["n://1", "sayso:a/n://2", "sayso:a/n://3", "n://4"]


class Server:
    """A server with these lists, which it does not give while it `is_down`."""

    def __init__(self, name: str, *uris: str) -> None:
        self.name = name
        self.entries = resources(*uris)
        self.is_down = False

    def of(self, _: Principal) -> "Server":
        return self

    async def listed_entries(self, method: str) -> list[dict[str, Any]]:
        if self.is_down:
            raise UnreachableError("it is down", where=self.name)
        return self.latest.get(method, [])

    @property
    def latest(self) -> dict[str, list[dict[str, Any]]]:
        return {"resources/list": self.entries}


async def test_a_uri_does_not_become_anothers_when_its_server_is_down() -> None:
    servers: list[Any] = [Server("a", "n://1"), Server("b", "n://1")]
    reach = UpstreamView(servers, Principal(LOCAL), 5.0)
    servers[0].is_down = True

    with pytest.raises(RpcError, match="sayso:a/n://1"):
        await reach.find_resource("n://1")


async def test_thousands_of_resources_are_indexed_once() -> None:
    uris = [f"n://{number}" for number in range(2000)]
    servers: list[Any] = [Server("a", *uris), Server("b", *uris)]
    reach = UpstreamView(servers, Principal(LOCAL), 5.0)

    assert await reach.addresses() is await reach.addresses()


@pytest.fixture(scope="module", params=["old", "new"])
async def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Served]:
    """A gateway before two servers of one era with equal resources."""
    words = (str(SERVERS / "telling.py"), *(["old"] if request.param == "old" else []))
    one = CommandTarget("one", sys.executable, words, REACHING)
    store = tmp_path_factory.mktemp("store") / "sayso.db"
    async with (
        serve(one, replace(one, name="two"), store=store) as served,
        raw_client(served.url, MODERN) as client,
    ):
        with anyio.fail_after(60):
            while len(await uris_of(client)) < 4:
                await anyio.sleep(0.005)
        yield served


@pytest.fixture(params=[LEGACY, MODERN])
def era(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def client(served: Served, era: str) -> AsyncGenerator[RawClient]:
    async with raw_client(served.url, era) as client:
        yield client


async def uris_of(client: RawClient) -> list[str]:
    return [one["uri"] for one in (await client.result("resources/list"))["resources"]]


@pytest.mark.process
async def test_both_servers_are_read_listed_and_completed(
    client: RawClient, served: Served
) -> None:
    assert await uris_of(client) == [
        f"sayso:{name}/notes://{note}" for name in ("one", "two") for note in ("a", "b")
    ]
    listed = await client.result("resources/templates/list")
    forms = [one["uriTemplate"] for one in listed["resourceTemplates"]]
    assert forms == ["sayso:one/notes://of/{id}", "sayso:two/notes://of/{id}"]

    read: dict[str, str] = {}
    for name in ("one", "two"):
        for note in ("notes://a", "notes://of/7"):
            uri = f"sayso:{name}/{note}"
            (contents,) = (await client.result("resources/read", {"uri": uri}))["contents"]
            assert contents["uri"] == uri
            process, own = contents["text"].split()
            assert own == note
            read[name] = process
        ref = {"type": "ref/resource", "uri": f"sayso:{name}/notes://of/{{id}}"}
        params = {"ref": ref, "argument": {"name": "id", "value": ""}}
        done = await client.result("completion/complete", params)
        assert done["completion"]["values"] == [f"{read[name]} notes://of/{{id}}"]
    assert read["one"] != read["two"]

    for method, uri in [("resources/read", "notes://a"), ("resources/read", "notes://of/7")]:
        error = (await client.ask(method, {"uri": uri}))["error"]
        assert error["code"] == INVALID_PARAMS
        assert f"sayso:one/{uri}, sayso:two/{uri}" in error["message"]

    async with raw_client(served.url.replace("/mcp", "/servers/two/mcp"), client.era) as alone:
        assert await uris_of(alone) == ["notes://a", "notes://b"]
        (contents,) = (await alone.result("resources/read", {"uri": "notes://a"}))["contents"]
        assert contents == {**contents, "uri": "notes://a", "text": f"{read['two']} notes://a"}


@pytest.mark.process
async def test_links_in_results_lead_to_their_own_server(client: RawClient, served: Served) -> None:
    shown = {"notes://a": "sayso:two/notes://a", "notes://c": "notes://c"}
    for uri, form in shown.items():
        link, inside = (await client.call("two__link", {"uri": uri}))["content"]
        assert (link["uri"], inside["resource"]["uri"]) == (form, form)
    (message,) = (await client.result("prompts/get", {"name": "one__linked"}))["messages"]
    assert message["content"]["uri"] == "sayso:one/notes://a"

    async with raw_client(served.url.replace("/mcp", "/servers/two/mcp"), client.era) as alone:
        link, _ = (await alone.call("link", {"uri": "notes://a"}))["content"]
        assert link["uri"] == "notes://a"


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.mark.process
async def test_changes_are_told_in_the_form_that_the_client_follows(
    served: Served, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(served.url, MODERN))
    wanted = {"resourceSubscriptions": ["sayso:two/notes://a", "notes://a"]}
    stream = await client.open("subscriptions/listen", {"notifications": wanted})
    acknowledged = await stream.next()
    told = acknowledged["params"]["notifications"]
    assert told["resourceSubscriptions"] == ["sayso:two/notes://a"]

    for name in ("one", "two"):
        await client.call(f"{name}__touch", {"uri": "notes://a"})
    updated = await stream.next()
    await stream.close()

    assert updated["method"] == UPDATED
    assert updated["params"]["uri"] == "sayso:two/notes://a"


@pytest.mark.process
async def test_an_older_client_follows_and_leaves_a_qualified_resource(
    served: Served, stack: AsyncExitStack
) -> None:
    client = await stack.enter_async_context(raw_client(served.url, LEGACY))
    uri = {"uri": "sayso:two/notes://a"}
    error = (await client.ask("resources/subscribe", {"uri": "notes://a"}))["error"]
    assert "sayso:one/notes://a" in error["message"]

    await client.result("resources/subscribe", uri)
    notifier = served.gateway.upstreams.notifier
    assert (notifier.followed("one", LOCAL), notifier.followed("two", LOCAL)) == (
        set(),
        {"notes://a"},
    )

    await client.result("resources/unsubscribe", uri)
    assert notifier.followed("two", LOCAL) == set()


def test_a_change_is_told_once_in_each_form_that_a_client_follows() -> None:
    listener = Listener(lambda _method, _params: None)
    listener.uris["n://a"] = Address("one", "n://a")
    listener.uris["n://a/b"] = Address("one", "n://a/b")
    listener.uris["sayso:one/n://a"] = Address("one", "n://a", "sayso:one/")
    listener.uris["sayso:two/n://a"] = Address("two", "n://a", "sayso:two/")

    told = listener.hears("one", None, UPDATED, {"uri": "n://a/b"})

    assert [one["uri"] for one in told] == ["n://a/b", "sayso:one/n://a/b"]
    assert not listener.hears("one", None, UPDATED, {"uri": "n://c"})
