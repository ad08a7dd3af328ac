"""A hostile or broken server behind the gateway: it sends elsewhere, lies, floods and stalls."""

import json
import time
from collections.abc import AsyncGenerator, Callable, Generator
from urllib.parse import quote

import anyio
import pytest
from tests.attacks.serving import send_raw
from tests.connect.servers.web import MODERN, OLD, Exchange, Site, serve_web
from tests.connect.serving import RawClient, raw_client
from tests.gateway.serving import Served, serve

from sayso.connect import UrlTarget
from sayso.connect.web import connection
from sayso.intent import Trust
from sayso.policy import Policy

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[MODERN, OLD])
def era(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def site(era: str) -> Generator[Site]:
    with serve_web(era) as running:
        yield running


@pytest.fixture
def other() -> Generator[Site]:
    """Where nobody wants to be sent."""
    with serve_web() as running:
        yield running


@pytest.fixture
async def served(site: Site, other: Site, store: str) -> AsyncGenerator[Served]:
    """A gateway before the hostile server and a sound one."""
    targets = (
        UrlTarget("web", site.url, {"Authorization": "Bearer secret-of-web"}),
        UrlTarget("sound", other.url),
    )
    async with serve(*targets, store=store) as running:
        yield running


@pytest.fixture
async def client(served: Served) -> AsyncGenerator[RawClient]:
    async with raw_client(served.url, MODERN) as client:
        await client.result("tools/list")
        yield client


def text(result: dict[str, object]) -> str:
    return json.dumps(result["content"])


UNREADABLE = "http://[/mcp"
"""Nobody can say what a server meant by it, or did before it."""


async def test_a_redirect_leads_nowhere_but_to_the_server_itself(
    client: RawClient, site: Site, other: Site
) -> None:
    port = site.url.split(":")[2].split("/")[0]
    before = len(other.requests)
    for goal in (
        other.url,
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:1/",
        "ftp://127.0.0.1/",
        "//evil.example/mcp",
        f"http://127.0.0.1:{port}@evil.example/mcp",
        f"http://evil.example@127.0.0.1:{port}/mcp",
        f"https://127.0.0.1:{port}/mcp",
        f"http://localhost:{port}/mcp",
        "http://127.0.0.1/mcp",
        UNREADABLE,
        "http://127.0.0.1:nothing/mcp",
        "javascript:alert(1)",
    ):
        for status in (301, 302, 307, 308):

            def away(exchange: Exchange, status: int = status, goal: str = goal) -> None:
                exchange.reply(status, Location=goal)

            site.faults["tools_call"] = away
            asked = len(site.requests)
            found = await client.call("web__add_note")
            assert found["isError"] is True, goal
            assert "secret-of-web" not in text(found)
            assert goal not in text(found)
            assert ("Nothing was run" in text(found)) is (goal != UNREADABLE), goal
            assert len(site.requests) == asked + 1, goal
    assert len(other.requests) == before
    del site.faults["tools_call"]
    assert "isError" not in await client.call("web__add_note")


async def test_redirects_that_go_round_come_to_an_end(client: RawClient, site: Site) -> None:
    site.faults["tools_call"] = lambda exchange: exchange.reply(307, Location="/mcp?again")
    site.faults["prompts_get"] = lambda exchange: exchange.reply(307, Location="http://10.0.0.1/")
    asked = len(site.requests)
    assert (await client.call("web__add_note"))["isError"] is True
    assert len(site.requests) - asked <= 3
    error = (await client.ask("prompts/get", {"name": "web__x"}))["error"]
    assert error["message"] == "the server “web” gave no answer"


def raw(*pieces: bytes, pause: float = 0) -> Callable[[Exchange], None]:
    """Answers with these bytes and no others."""

    def answer(exchange: Exchange) -> None:
        for piece in pieces:
            exchange.handler.wfile.write(piece)
            exchange.handler.wfile.flush()
            time.sleep(pause)
        exchange.drop()

    return answer


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = b'{"jsonrpc":"2.0","id":7,"result":{"content":[]}}'


def said(exchange: Exchange, **changes: object) -> bytes:
    result = {"content": [{"type": "text", "text": "ok"}]}
    return json.dumps(
        {"jsonrpc": "2.0", "id": exchange.body["id"], "result": result} | changes
    ).encode()


def lies() -> dict[str, Callable[[Exchange], None]]:
    def wrong_id(exchange: Exchange) -> None:
        exchange.reply(200, said(exchange, id=exchange.body["id"] + 1).decode())

    def true_id(exchange: Exchange) -> None:
        exchange.reply(200, said(exchange, id=True).decode())

    def id_as_text(exchange: Exchange) -> None:
        exchange.reply(200, said(exchange, id=str(exchange.body["id"])).decode())

    def long_length(exchange: Exchange) -> None:
        body = said(exchange)
        raw(HEAD + b"Content-Length: %d\r\n\r\n" % (len(body) + 9) + body)(exchange)

    def short_length(exchange: Exchange) -> None:
        body = said(exchange)
        raw(HEAD + b"Content-Length: %d\r\n\r\n" % (len(body) - 9) + body)(exchange)

    def wrong_event(exchange: Exchange) -> None:
        body = said(exchange, id=999_999)
        exchange.reply(200, f"data: {body.decode()}\n\n", "text/event-stream")

    return {
        "a wrong id": wrong_id,
        "true as an id": true_id,
        "an id as text": id_as_text,
        "an event of another request": wrong_event,
        "a length that is too long": long_length,
        "a length that is too short": short_length,
        "two lengths": raw(HEAD + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\n" + GOOD),
        "a length and chunks": raw(
            HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + GOOD
        ),
        "a length below nothing": raw(HEAD + b"Content-Length: -5\r\n\r\n" + GOOD),
        "no HTTP": raw(b"\x00\xff\xfe nonsense\r\n\r\n"),
        "a head without an end": raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000),
        "no UTF-8 in the envelope": raw(HEAD + b"Content-Length: 4\r\n\r\n\xff\xfe{}"),
        "a header with NUL": raw(HEAD + b"X: a\x00b\r\nContent-Length: 2\r\n\r\n{}"),
    }


@pytest.mark.parametrize("what", lies())
async def test_an_answer_that_lies_is_no_answer_and_nothing_is_sent_again(
    client: RawClient, site: Site, what: str
) -> None:
    site.faults["tools_call"] = lies()[what]
    asked = len(site.asked("tools/call"))
    found = await client.call("web__add_note")
    assert found["isError"] is True
    assert "may have run or not" in text(found)
    assert len(site.asked("tools/call")) == asked + 1
    del site.faults["tools_call"]
    assert "isError" not in await client.call("sound__add_note")
    assert "isError" not in await client.call("web__add_note")


async def test_a_second_answer_is_nobodys(client: RawClient, site: Site) -> None:
    def twice(exchange: Exchange) -> None:
        first, second = said(exchange), said(exchange, result={"content": [], "isError": True})
        head = HEAD + b"Content-Length: %d\r\n\r\n"
        exchange.handler.wfile.write(head % len(first) + first + head % len(second) + second)

    site.faults["tools_call"] = twice
    assert "ok" in text(await client.call("web__get_echo"))
    del site.faults["tools_call"]
    found = await client.call("web__get_echo", {"count": 3})
    assert found["structuredContent"] == {"count": 3}


async def test_an_answer_that_is_too_large_is_given_up_and_memory_with_it(
    client: RawClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection.Reply.body, "__defaults__", (100_000,))
    site.faults["tools_call"] = raw(
        HEAD + b"Content-Length: 99999999999\r\n\r\n", *[b"x" * 65_536] * 20
    )
    found = await client.call("web__add_note")
    assert "may have run or not" in text(found)
    assert "isError" not in await client.call("sound__add_note")


async def test_a_server_that_says_a_byte_at_a_time_holds_up_its_own_call_alone(
    site: Site, other: Site, store: str
) -> None:
    targets = (UrlTarget("web", site.url), UrlTarget("sound", other.url))
    async with (
        serve(*targets, store=store) as served,
        raw_client(served.url, MODERN) as client,
    ):
        await client.result("tools/list")
        object.__setattr__(served.gateway.upstreams, "timeout", 1.0)
        site.faults["tools_call"] = raw(*[bytes([one]) for one in HEAD * 9], pause=0.05)
        begun = anyio.current_time()
        async with anyio.create_task_group() as group:
            group.start_soon(client.call, "web__get_echo")
            assert "isError" not in await client.call("sound__get_echo")
            assert anyio.current_time() - begun < 1
        # A read is made again, three times at most.
        assert anyio.current_time() - begun < 10


HOSTILE = "x\r\nSet-Cookie: a=b\r\n\r\n<script>"


TRUSTED = Policy(trust={"web": Trust.TRUSTED})
"""Its tools run without a question, whatever their names sound like."""


async def test_line_breaks_in_what_a_server_says_make_no_headers(site: Site, store: str) -> None:
    target = UrlTarget("web", site.url)
    async with serve(target, store=store, policy=lambda: TRUSTED) as served:
        await _say_line_breaks(served, site)


async def _say_line_breaks(served: Served, site: Site) -> None:
    def listed(exchange: Exchange) -> None:
        tool = {"inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
        exchange.result({"tools": [tool | {"name": HOSTILE}, tool | {"name": "get_echo"}]})

    site.faults["tools_list"] = listed
    for path in ("/mcp", "/servers/web/mcp"):
        async with raw_client(served.url.replace("/mcp", path), MODERN) as client:
            for method, params in (
                ("tools/list", {}),
                ("tools/call", {"name": HOSTILE, "arguments": {}}),
                ("tools/call", {"name": f"web__{HOSTILE}", "arguments": {}}),
                ("prompts/get", {"name": f"web__{HOSTILE}"}),
            ):
                name = {"mcp-name": ""} if method == "tools/list" else {}
                found = await client.ask(method, params)
                assert "result" in found or "error" in found, name
    # Once by its name there and once by its name here: both have reached the server.
    assert len(site.asked("tools/call")) == 2
    sent = [one.headers for one in site.requests]
    assert all("set-cookie" not in one for one in sent)
    port = int(served.url.split(":")[2].split("/")[0])
    for where in (f"/console/{quote(HOSTILE)}", f"/{quote(HOSTILE)}", f"/mcp?{quote(HOSTILE)}"):
        head = f"GET {where} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n"
        for answer in await send_raw(port, head.encode()):
            assert "a=b" not in answer.head
