"""Streams that end early, servers that speak unasked, and answers that are none, over HTTP."""

import json
from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from tests.connect.servers.web import JSON, OLD, Answer, Exchange, serve_web
from tests.connect.serving import until

from sayso.connect import Fault, RpcError, UrlTarget
from sayso.connect import link as link_module
from sayso.connect.link import Link, open_link
from sayso.connect.web import http_transport as site_module
from sayso.errors import UnreachableError
from sayso.slices import LARGE_BYTES

pytestmark = pytest.mark.anyio

EVENTS = "text/event-stream"
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def event(message: Any, number: int | None = None) -> str:
    head = "" if number is None else f"id: {number}\n"
    return f"{head}data: {json.dumps(message)}\n\n"


def answer(number: int, **result: Any) -> str:
    return event({"jsonrpc": "2.0", "id": number, "result": result})


def replying(status: int, body: str = "", kind: str = "", **headers: str) -> Answer:
    def reply(exchange: Exchange) -> None:
        exchange.reply(status, body, kind, **headers)

    return reply


def stream(*parts: str) -> Answer:
    """A stream that ends after `parts`."""
    return replying(200, "".join(parts), EVENTS)


def saying(beside: int, result: Any) -> Answer:
    """A result in JSON, for the request whose number is so far beside the one that asked."""

    def reply(exchange: Exchange) -> None:
        number = exchange.body["id"] + beside
        exchange.reply(200, json.dumps({"jsonrpc": "2.0", "id": number, "result": result}))

    return reply


async def call(link: Link, **options: Any) -> dict[str, Any]:
    params = {"name": "add_note", "arguments": {}}
    return await link.request("tools/call", params, timeout=60, **options)


async def fault_of(link: Link) -> RpcError:
    with pytest.raises(RpcError) as caught:
        await call(link)
    return caught.value


BROKEN_OFF = "id: 7\nretry: 10\ndata: \n\n"


def broken_off(exchange: Exchange) -> None:
    """Says where the stream can be taken up, and dies."""
    exchange.begin(200, EVENTS, 1000)
    exchange.handler.wfile.write(BROKEN_OFF.encode())
    exchange.drop()


@pytest.mark.parametrize("begun", [stream(BROKEN_OFF), broken_off])
async def test_a_stream_that_ends_early_is_taken_up_where_it_ended(begun: Answer) -> None:
    told: list[Any] = []
    turns = iter([8, 9])

    async def progress(done: float, *_: Any) -> None:
        told.append(done)

    def onward(exchange: Exchange) -> None:
        if "last-event-id" not in exchange.headers:
            exchange.reply(405)
            return
        turn = next(turns)
        number = site.asked("tools/call")[0].body["id"]
        if turn == 8:
            params = {"progressToken": number, "progress": 0.5}
            done = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
            exchange.reply(200, event(done, 8), EVENTS)
        else:
            exchange.reply(200, answer(number, found=True), EVENTS)

    with serve_web(OLD, tools_call=begun, get=onward) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            assert await call(link, progress=progress) == {"found": True}
        taken_up = [one.headers.get("last-event-id") for one in site.asked("get")]
    assert [one for one in taken_up if one] == ["7", "8"]
    assert told == [0.5]
    assert len(site.asked("tools/call")) == 1


@pytest.mark.parametrize(
    ("begun", "onward"),
    [
        (broken_off, replying(405)),
        (broken_off, Exchange.drop),
        (broken_off, stream("data: {nonsense}\n\n")),
        (broken_off, stream(": nothing\nretry: 0\n\n")),
        (stream("id: 7\nretry: 0\ndata: \n\n"), stream()),
    ],
    ids=["refused", "dropped", "nonsense", "silence after a break", "silence"],
)
async def test_one_that_cannot_be_taken_up_may_have_run(begun: Answer, onward: Answer) -> None:
    with serve_web(OLD, tools_call=begun, get=onward) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            found = await fault_of(link)
            assert found.fault is Fault.LOST
            assert found.may_have_run
            assert "nonsense" not in str(found)
            del site.faults["tools_call"]
            await call(link)
    assert len(site.asked("tools/call")) == 2


async def test_a_server_that_is_gone_when_its_stream_is_taken_up_has_lost_the_call() -> None:
    def die(exchange: Exchange) -> None:
        broken_off(exchange)
        exchange.stop_listening()

    with serve_web(tools_call=die) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            assert (await fault_of(link)).fault is Fault.LOST


async def test_what_a_server_says_unasked_is_heard_again_after_its_stream_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(site_module, "_RESUME_SECONDS", 0.01)
    heard: list[str] = []
    ends: list[Answer] = [
        stream(event(CHANGED, 1), "data: {nonsense}\n\n"),
        Exchange.drop,
        stream("retry: 10\n", event(CHANGED, 2)),
        stream(),
        stream(),
        Exchange.drop,
        # Whoever says nothing three times is not asked again.
        stream(event(CHANGED, 3)),
    ]
    turns = iter(ends)

    async def notified(method: str, params: Mapping[str, Any]) -> None:
        del params
        heard.append(method)

    def onward(exchange: Exchange) -> None:
        next(turns)(exchange)

    with serve_web(OLD, get=onward) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60, notified=notified) as link:
            await until(lambda: len(site.asked("get")) == 6)
            await call(link)
        lasts = [one.headers.get("last-event-id") for one in site.asked("get")]
    assert heard == [CHANGED["method"]] * 2
    assert lasts == [None, "1", "1", "2", "2", "2"]


async def test_an_answer_that_nobody_waits_for_is_passed_over() -> None:
    def both(exchange: Exchange) -> None:
        number = exchange.body["id"]
        stray = answer(number + 1000, whose="another's")
        exchange.reply(200, stray + answer(number, whose="mine"), EVENTS)

    with serve_web(tools_call=both) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            assert await call(link) == {"whose": "mine"}


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (replying(202), Fault.LOST),
        (replying(200), Fault.NOT_MCP),
        (saying(92, {}), Fault.LOST),
        (saying(0, [1]), Fault.LOST),
        (replying(200, "[" * 100_000, JSON), Fault.LOST),
        (replying(307, Location="/again"), Fault.SENT_ON),
        (replying(307, Location="http://[::1"), Fault.LOST),
        (replying(308, Location="//other.example/mcp"), Fault.SENT_ON),
    ],
    ids=["202", "no kind", "another's", "a list", "deep", "a loop", "no address", "elsewhere"],
)
async def test_what_is_no_answer_ends_one_call(reply: Answer, fault: Fault) -> None:
    with serve_web(tools_call=reply) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            assert (await fault_of(link)).fault is fault
            del site.faults["tools_call"]
            await call(link)


ASKS = {"jsonrpc": "2.0", "id": "s-1", "method": "roots/list"}


@pytest.mark.parametrize("taken", [replying(202), Exchange.drop], ids=["taken", "dropped"])
async def test_what_a_server_asks_is_answered_whether_it_takes_the_answer_or_not(
    taken: Answer,
) -> None:
    async def asked(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        del params
        return {"asked": method}

    def first(exchange: Exchange) -> None:
        site.faults["get"] = replying(405)
        exchange.reply(200, event(ASKS), EVENTS)

    # What is sent without a method is an answer.
    with serve_web(OLD, get=first) as site:
        site.faults["None"] = taken
        async with open_link(UrlTarget("web", site.url), timeout=60, asked=asked) as link:
            await until(lambda: bool(site.asked("None")))
            await call(link)
        (sent,) = site.asked("None")
    assert (sent.body["id"], sent.body["result"]) == ("s-1", {"asked": "roots/list"})


async def test_who_thinks_for_long_about_what_a_server_asks_does_not_hold_the_end_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link_module, "_LEAVE_SECONDS", 0.05)
    thinking, ended = anyio.Event(), anyio.Event()

    async def asked(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        del method, params
        thinking.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    with serve_web(OLD, get=stream(event(ASKS))) as site, anyio.fail_after(60):
        async with open_link(UrlTarget("web", site.url), timeout=60, asked=asked):
            await thinking.wait()
    assert ended.is_set()


async def test_a_server_that_is_gone_is_left_without_a_goodbye() -> None:
    def die(exchange: Exchange) -> None:
        exchange.stop_listening()
        for one in site.requests:
            one.drop()

    with serve_web(OLD, tools_call=die) as site, anyio.fail_after(60):
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            # Its stream has a connection of its own, and must be known to be dropped.
            await until(lambda: bool(site.asked("get")))
            assert (await fault_of(link)).fault is Fault.LOST
    assert site.asked("delete") == []


async def test_a_header_of_the_configuration_cannot_begin_another() -> None:
    with serve_web() as site:
        target = UrlTarget("web", site.url, {"X-Team": "a\r\nX-Evil: 1"})
        with pytest.raises(UnreachableError, match="a header holds a line break"):
            async with open_link(target, timeout=60):
                raise AssertionError
        assert site.requests == []


async def test_a_request_of_any_size_is_sent_once() -> None:
    with serve_web(tools_call=saying(0, {"done": True})) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            for size in (1, LARGE_BYTES):
                params = {"name": "add_note", "arguments": {"text": "x" * size}}
                assert await link.request("tools/call", params, timeout=60) == {"done": True}
        sent = [one.body["params"]["arguments"]["text"] for one in site.asked("tools/call")]
    assert sent == ["x", "x" * LARGE_BYTES]
