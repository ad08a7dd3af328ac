"""HTTP that goes wrong costs one call, is called by its name, and leads nowhere else."""

import json
import threading
from collections.abc import Generator
from typing import Any

import anyio
import pytest
from tests.connect.servers.web import MODERN, OLD, Answer, Exchange, Site, serve_web
from tests.connect.serving import until

from sayso.connect import Fault, RpcError, UrlTarget
from sayso.connect.link import Link, open_link
from sayso.connect.listing import list_all
from sayso.connect.web import http_transport as site_module
from sayso.errors import (
    AuthenticationError,
    NotMcpError,
    TimedOutError,
    UnreachableError,
)

pytestmark = pytest.mark.anyio

ERAS = [MODERN, OLD]
HTML = "<!doctype html><title>Sign in</title>"


@pytest.fixture(params=ERAS)
def site(request: pytest.FixtureRequest) -> Generator[Site]:
    """A sound server, to which a test may add faults."""
    with serve_web(request.param) as site:
        yield site


async def call(link: Link, **arguments: Any) -> Any:
    params = {"name": "add_note", "arguments": arguments}
    return (await link.request("tools/call", params, timeout=60))["structuredContent"]


async def refusal(site: Site, timeout: float = 5) -> UnreachableError | AuthenticationError:
    """The error that says why there is no connection."""
    with pytest.raises((UnreachableError, AuthenticationError)) as caught:
        async with open_link(UrlTarget("web", site.url), timeout=timeout):
            raise AssertionError
    return caught.value


def drop_in_json(exchange: Exchange) -> None:
    exchange.begin(200, "application/json", 1000)
    exchange.handler.wfile.write(b'{"jsonrpc": "2.0", "id": 3, "result": {"con')
    exchange.drop()


def drop_in_events(exchange: Exchange) -> None:
    exchange.begin(200, "text/event-stream", 1000)
    exchange.handler.wfile.write(b": still there\n\nevent: message\ndata: {")
    exchange.drop()


def end_events_early(exchange: Exchange) -> None:
    exchange.reply(200, ": that is all\n\n", "text/event-stream")


def broken_json(exchange: Exchange) -> None:
    exchange.reply(200, '{"jsonrpc": "2.0", "result"')


def broken_event(exchange: Exchange) -> None:
    exchange.reply(200, "event: message\ndata: {nonsense}\n\n", "text/event-stream")


def status(code: int, body: str = HTML, kind: str = "text/html") -> Answer:
    def fault(exchange: Exchange) -> None:
        exchange.reply(code, body, kind)

    fault.__name__ = " ".join(f"{code} {kind} {body[:9]}".split())
    return fault


@pytest.mark.parametrize(
    "fault",
    [
        Exchange.drop,
        drop_in_json,
        drop_in_events,
        end_events_early,
        broken_json,
        broken_event,
        status(500),
        status(502),
        status(504, "{}", "application/json"),
    ],
)
async def test_an_answer_that_is_lost_ends_one_call_and_no_other(site: Site, fault: Answer) -> None:
    async with open_link(UrlTarget("web", site.url), timeout=60) as link:
        assert await call(link, n=1) == {"n": 1}
        site.faults["tools_call"] = fault
        with pytest.raises(RpcError) as caught:
            await call(link, n=2)
        assert caught.value.fault is Fault.LOST
        assert caught.value.may_have_run
        del site.faults["tools_call"]
        assert await call(link, n=3) == {"n": 3}
        assert not link.closed.is_set()
    assert len(site.asked("tools/call")) == 3


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (status(401), Fault.UNAUTHORIZED),
        (status(403, "{}", "application/json"), Fault.UNAUTHORIZED),
        (status(200), Fault.NOT_MCP),
        (status(405), Fault.REFUSED),
        (status(429, '{"detail": "slow down"}', "application/json"), Fault.REFUSED),
        (status(501), Fault.REFUSED),
        (status(400, "no JSON at all", "application/json"), Fault.REFUSED),
    ],
)
async def test_an_answer_that_is_none_says_that_nothing_ran(
    site: Site, fault: Answer, expected: Fault
) -> None:
    async with open_link(UrlTarget("web", site.url), timeout=60) as link:
        site.faults["tools_call"] = fault
        with pytest.raises(RpcError) as caught:
            await call(link, n=1)
        assert caught.value.fault is expected
        assert not caught.value.may_have_run
        del site.faults["tools_call"]
        assert await call(link, n=2) == {"n": 2}


async def test_a_servers_error_under_a_status_of_4xx_is_its_own(site: Site) -> None:
    def fault(exchange: Exchange) -> None:
        exchange.error(400, -32602, "session of what?", exchange.body["id"])

    site.faults["tools_call"] = fault
    async with open_link(UrlTarget("web", site.url), timeout=60) as link:
        with pytest.raises(RpcError, match="session of what") as caught:
            await call(link)
        assert (caught.value.code, caught.value.fault) == (-32602, None)
        assert not link.closed.is_set()


def session_gone(exchange: Exchange) -> None:
    exchange.error(404, -32600, "Session not found", "server-error")


def session_refused(exchange: Exchange) -> None:
    exchange.error(400, -32000, "Bad Request: No valid session ID provided")


def drop_in_refusal(exchange: Exchange) -> None:
    exchange.begin(400, "application/json", 1000)
    exchange.drop()


async def test_a_refusal_that_breaks_off_says_nothing_of_what_ran(site: Site) -> None:
    async with open_link(UrlTarget("web", site.url), timeout=60) as link:
        site.faults["tools_call"] = drop_in_refusal
        with pytest.raises(RpcError) as caught:
            await call(link)
        assert caught.value.fault is Fault.LOST


@pytest.mark.parametrize(
    "fault", [session_gone, session_refused, status(404), status(404, "{}", "application/json")]
)
async def test_a_session_that_the_server_has_forgotten_ends_the_connection(fault: Answer) -> None:
    with serve_web(OLD, tools_call=fault) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            with pytest.raises(RpcError) as caught:
                await call(link)
            assert caught.value.fault is Fault.EXPIRED
            assert not caught.value.may_have_run
            assert link.closed.is_set()


async def test_a_server_without_sessions_that_knows_no_such_path_keeps_its_connection() -> None:
    with serve_web(MODERN, tools_call=status(404)) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            with pytest.raises(RpcError) as caught:
                await call(link)
            assert caught.value.fault is Fault.REFUSED
            assert not link.closed.is_set()


async def test_a_hanging_call_is_given_up_and_the_next_one_works(site: Site) -> None:
    site.faults["tools_call"] = Exchange.hang
    async with open_link(UrlTarget("web", site.url), timeout=60) as link:
        with pytest.raises(RpcError) as caught:
            await link.request("tools/call", {"name": "add_note"}, timeout=0.3)
        assert caught.value.fault is Fault.TIMED_OUT
        del site.faults["tools_call"]
        assert await call(link, n=1) == {"n": 1}


async def test_a_body_that_comes_slowly_is_waited_for(site: Site) -> None:
    def slowly(exchange: Exchange) -> None:
        body = b'{"jsonrpc": "2.0", "id": %d, "result": {"structuredContent": "slow"}}'
        body %= exchange.body["id"]
        exchange.begin(200, "application/json", len(body))
        for start in range(0, len(body), 10):
            exchange.handler.wfile.write(body[start : start + 10])
            exchange.ended.wait(0.02)

    site.faults["tools_call"] = slowly
    async with open_link(UrlTarget("web", site.url), timeout=60) as link:
        assert await call(link) == "slow"


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_a_large_answer_arrives_whole(site: Site, kind: str) -> None:
    def answer(exchange: Exchange) -> None:
        result = {"structuredContent": "x" * 3_000_000}
        body = json.dumps({"jsonrpc": "2.0", "id": exchange.body["id"], "result": result})
        is_event = kind == "text/event-stream"
        exchange.reply(200, f"event: message\ndata: {body}\n\n" if is_event else body, kind)

    site.faults["tools_call"] = answer
    async with open_link(UrlTarget("web", site.url), timeout=60) as link:
        assert await call(link) == "x" * 3_000_000


async def test_a_stream_that_begins_with_where_to_take_it_up_is_read_on(
    site: Site,
) -> None:
    def answer(exchange: Exchange) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": exchange.body["id"], "result": {"n": 1}})
        stream = f"id: 1\ndata: \n\nid: 2\nevent: message\ndata: {body}\n\n"
        exchange.reply(200, stream, "text/event-stream")

    site.faults["tools_call"] = answer
    async with open_link(UrlTarget("web", site.url), timeout=60) as link:
        params = {"name": "get_echo", "arguments": {}}
        assert await link.request("tools/call", params, timeout=60) == {"n": 1}


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (status(401), AuthenticationError, r"the server requires credentials \(HTTP 401\)"),
        (status(403), AuthenticationError, "HTTP 403"),
        (status(200), NotMcpError, r"not answer as an MCP server \(HTTP 200 with text/html\)"),
        (status(404), NotMcpError, "HTTP 404"),
        (status(404, '{"detail":"Not Found"}', "application/json"), NotMcpError, "HTTP 404"),
        (status(405, "", ""), NotMcpError, "HTTP 405"),
        (status(500), UnreachableError, "no usable answer: HTTP 500"),
        (status(502), UnreachableError, "no usable answer: HTTP 502"),
        (Exchange.drop, UnreachableError, "the connection broke"),
        (broken_json, UnreachableError, "no usable answer: the answer cannot be read"),
    ],
)
async def test_why_there_is_no_connection_is_said_in_words(
    fault: Answer, kind: type[Exception], words: str
) -> None:
    with serve_web(any=fault) as site:
        error = await refusal(site)
        assert type(error) is kind
        assert error.where == site.url
        with pytest.raises(kind, match=words):
            raise error


async def test_a_server_that_refuses_connections_is_not_running() -> None:
    with serve_web() as site:
        pass
    error = await refusal(site)
    assert "no connection" in error.what
    assert error.fix == "Is the server running?"


async def test_a_server_that_hangs_runs_out_of_time() -> None:
    with serve_web(any=Exchange.hang) as site:
        error = await refusal(site, timeout=0.4)
    assert isinstance(error, TimedOutError)
    assert error.what == "no answer within 0.4 s"


async def test_a_redirect_to_another_origin_is_told_and_not_followed() -> None:
    with serve_web() as other:

        def away(exchange: Exchange) -> None:
            exchange.reply(307, Location=other.url)

        with serve_web(any=away) as site:
            target = UrlTarget("web", site.url, {"Authorization": "Bearer secret"})
            with pytest.raises(UnreachableError, match="not followed") as caught:
                async with open_link(target, timeout=60):
                    raise AssertionError
        assert other.url in caught.value.what
        assert other.requests == []


async def test_a_redirect_within_the_origin_is_followed() -> None:
    def onward(exchange: Exchange) -> None:
        if exchange.handler.path == "/mcp":
            exchange.reply(307, Location="/moved")
        else:
            exchange.result({"supportedVersions": [MODERN], "capabilities": {}})

    with serve_web(server_discover=onward) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            assert link.version == MODERN


async def test_headers_of_the_configuration_are_sent_even_where_they_are_not_ascii(
    site: Site,
) -> None:
    target = UrlTarget("web", site.url, {"Authorization": "Bearer 1", "X-Team": "Grün"})
    async with open_link(target, timeout=60) as link:
        await call(link)
    (one,) = site.asked("tools/call")
    assert one.headers["authorization"] == "Bearer 1"
    assert one.headers["x-team"].encode("latin-1").decode() == "Grün"


async def test_many_calls_share_few_connections(site: Site) -> None:
    ports: set[int] = set()

    def note(exchange: Exchange) -> None:
        ports.add(exchange.handler.client_address[1])
        exchange.result({"structuredContent": None})

    site.faults["tools_call"] = note
    async with open_link(UrlTarget("web", site.url), timeout=60) as link:
        for _ in range(10):
            await call(link)
    # Before 2026-07-28 there is a second one, on which the server is listened to.
    assert len(ports) <= 2


async def test_a_server_that_never_says_goodbye_does_not_hold_the_connection_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(site_module, "_GOODBYE_SECONDS", 0.2)
    with serve_web(OLD, delete=Exchange.hang) as site, anyio.fail_after(60):
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            assert len(await list_all(link, "tools/list", timeout=60)) == 2
        (goodbye,) = site.asked("delete")
        assert goodbye.headers["mcp-session-id"] == "session-1"


async def test_a_request_that_is_cancelled_is_let_go_of_at_once() -> None:
    begun = threading.Event()

    def hang(exchange: Exchange) -> None:
        begun.set()
        exchange.hang()

    with serve_web(tools_call=hang) as site, anyio.fail_after(60):
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            async with anyio.create_task_group() as group:
                group.start_soon(call, link)
                await until(begun.is_set)
                group.cancel_scope.cancel()
            del site.faults["tools_call"]
            assert await call(link, n=1) == {"n": 1}


@pytest.mark.parametrize("is_bypassed", [False, True])
async def test_a_proxy_of_the_environment_is_used_unless_the_host_is_excepted(
    monkeypatch: pytest.MonkeyPatch, *, is_bypassed: bool
) -> None:
    with serve_web() as proxy, serve_web() as site:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/mcp"))
        monkeypatch.setenv("no_proxy", "127.0.0.1" if is_bypassed else "other.example")
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            await call(link)
        assert (len(site.asked("tools/call")), len(proxy.asked("tools/call"))) == (
            (1, 0) if is_bypassed else (0, 1)
        )
