"""Traces from a client through the gateway to a server, as a real collector receives them."""

import contextlib
import importlib
import json
import pkgutil
import threading
from collections.abc import AsyncGenerator
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.connect.servers.web import MODERN, OLD, Exchange, Site, serve_web
from tests.connect.serving import RawClient, raw_client
from tests.gateway.serving import Served, serve
from tests.telemetry.collector import Collector, Seen, collecting

from sayso.approvals import Answer
from sayso.connect import UrlTarget
from sayso.store import Head
from sayso.telemetry.setup import open_telemetry

pytestmark = pytest.mark.anyio

TRACE = "0af7651916cd43dd8448eb211c80319c"
ABOVE = "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{ABOVE}-01"
SERVER, CLIENT = 2, 3
UNSTABLE = "opentelemetry.semconv._incubating.attributes"
SECRET = "sk-live-0123456789abcdefghij"


@pytest.fixture
async def collector(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Collector]:
    """A collector. Every attribute that it gets is in OpenTelemetry's registry, or is sayso's."""
    async with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        yield collector
    names = {name for span in collector.spans for name in span.attributes}
    names |= {name for span in collector.spans for _, event in span.events for name in event}
    assert {name for name in names if not name.startswith("sayso.")} <= registry()


@cache
def registry() -> frozenset[str]:
    """Return the names of all attributes in the semantic conventions, stable or not."""
    modules = [
        importlib.import_module(f"{package}.{module.name}")
        for package in ("opentelemetry.semconv.attributes", UNSTABLE)
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__)
    ]
    return frozenset(
        value
        for module in modules
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str)
    )


@contextlib.asynccontextmanager
async def traced(
    site: Site, folder: Path, era: str = MODERN, **headers: str
) -> AsyncGenerator[tuple[Served, RawClient]]:
    """A gateway that sends its traces, and a client of it; all is sent when this is left."""
    async with (
        open_telemetry() as telemetry,
        serve(UrlTarget("web", site.url), store=folder / "a.db", telemetry=telemetry) as served,
        raw_client(served.url, era, **headers) as client,
    ):
        yield served, client


def only(spans: list[Seen]) -> Seen:
    (span,) = spans
    return span


@pytest.mark.parametrize("era", [MODERN, OLD])
async def test_a_call_is_one_trace_from_the_client_to_the_server(
    collector: Collector, tmp_path: Path, era: str
) -> None:
    with serve_web(era) as site:
        async with traced(site, tmp_path, era) as (served, client):
            await client.call("web__get_echo", {"token": SECRET}, traceparent=PARENT)
            rows = await served.gateway.guard.audit.newest()
        (asked,) = site.asked("tools/call")

    server = only(collector.named("tools/call web__get_echo"))
    out = only(collector.named("tools/call get_echo"))
    assert (server.kind, server.trace, server.parent) == (SERVER, TRACE, ABOVE)
    assert (out.kind, out.trace, out.parent) == (CLIENT, TRACE, server.id)
    passed = f"00-{TRACE}-{out.id}-01"
    assert asked.body["params"]["_meta"]["traceparent"] == passed
    assert asked.headers["traceparent"] == passed
    assert {json.loads(row.body)["trace"].split("-")[1] for row in rows} == {TRACE}


async def test_spans_say_what_the_conventions_say(collector: Collector, tmp_path: Path) -> None:
    with serve_web(OLD) as site:
        async with traced(site, tmp_path, OLD) as (_, client):
            await client.call("web__get_echo")
            session = client.session["mcp-session-id"]
        port = int(site.url.split(":")[2].split("/")[0])

    server = only(collector.named("tools/call web__get_echo"))
    call, told = server.attributes.pop("sayso.call.id"), server.attributes.pop("mcp.session.id")
    assert len(call) > 20
    # The id of the session, not the token that opens it.
    assert told
    assert told not in session
    assert server.attributes == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": OLD,
        "network.transport": "tcp",
        "network.protocol.name": "http",
        "jsonrpc.request.id": "7",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "web__get_echo",
        "sayso.server": "web",
        "sayso.level": "read",
        "sayso.decision": "allow",
        "sayso.outcome": "ok",
    }
    assert [name for name, _ in server.events] == ["sayso.decision"]
    assert server.events[0][1]["sayso.decision"] == "allow"
    out = only(collector.named("tools/call get_echo"))
    assert out.attributes == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": OLD,
        "network.transport": "tcp",
        "network.protocol.name": "http",
        "server.address": "127.0.0.1",
        "server.port": port,
        "sayso.server": "web",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_echo",
    }
    assert collector.resource["service.name"] == "sayso"


async def test_what_a_person_said_is_an_event(collector: Collector, tmp_path: Path) -> None:
    with serve_web(tools_list=lambda one: one.result({"tools": [DELETES]})) as site:
        async with traced(site, tmp_path) as (served, client):
            approvals = served.gateway.guard.approvals

            async def allow() -> None:
                while not (found := await approvals.newest()):
                    await anyio.sleep(0.01)
                await approvals.answer(
                    found[0].number, Answer(is_allowed=True, by="amy", channel="console")
                )

            async with anyio.create_task_group() as group:
                group.start_soon(allow)
                await client.call("web__delete_all")

    server = only(collector.named("tools/call web__delete_all"))
    assert [name for name, _ in server.events] == ["sayso.decision", "sayso.approval"]
    assert server.events[1][1] == {"sayso.approval.number": 1, "sayso.approval.channel": "console"}
    assert server.attributes["sayso.approval.number"] == 1
    assert b"amy" not in collector.raw


DELETES = {"name": "delete_all", "inputSchema": {"type": "object"}}


async def test_a_trace_in_the_headers_counts_where_the_message_has_none(
    collector: Collector, tmp_path: Path
) -> None:
    other = f"00-{'a' * 32}-{'b' * 16}-01"
    with serve_web() as site:
        async with traced(site, tmp_path, traceparent=other) as (_, client):
            await client.call("web__get_echo")
            await client.call("web__get_echo", traceparent=PARENT)

    first, second = collector.named("tools/call web__get_echo")
    assert (first.trace, first.parent, first.links) == ("a" * 32, "b" * 16, [])
    assert (second.trace, second.parent, second.links) == (TRACE, ABOVE, ["b" * 16])


@pytest.mark.parametrize("said", ["garbage", "00-0-0-0", 7, None, "00-" + "0" * 32 + "-1-01"])
async def test_a_trace_that_is_none_begins_a_new_one(
    collector: Collector, tmp_path: Path, said: Any
) -> None:
    with serve_web() as site:
        async with traced(site, tmp_path) as (_, client):
            await client.call("web__get_echo", traceparent=said)

    server = only(collector.named("tools/call web__get_echo"))
    assert (server.parent, len(server.trace)) == ("", 32)


async def test_failures_have_their_type(collector: Collector, tmp_path: Path) -> None:
    refused: dict[str, Any] = {"content": [], "isError": True}
    with serve_web(tools_call=lambda one: one.result(refused)) as site:
        async with traced(site, tmp_path) as (_, client):
            await client.call("web__get_echo")
            site.faults["tools_call"] = lambda one: one.error(200, -32602, "no", one.body["id"])
            await client.ask("tools/call", {"name": "web__get_echo"})
            site.faults["tools_call"] = Exchange.drop
            await client.call("web__add_note")
            await client.ask("tools/call", {"name": "web__nothing"})
            await client.ask("nothing/known")

    types = [
        (one.name, one.attributes.get("error.type"), one.error)
        for one in collector.spans
        if one.name.startswith(("tools/call", "_OTHER"))
    ]
    assert types == [
        ("tools/call get_echo", "tool_error", True),
        ("tools/call web__get_echo", "tool_error", True),
        ("tools/call get_echo", "-32602", True),
        ("tools/call web__get_echo", "-32602", True),
        ("tools/call add_note", "lost", True),
        ("tools/call web__add_note", "tool_error", True),
        # What nobody has is not named: it would be the caller's word alone.
        ("tools/call", "-32602", True),
        ("_OTHER", "-32601", True),
    ]


async def test_neither_arguments_nor_results_nor_hostile_names_are_sent(
    collector: Collector, tmp_path: Path
) -> None:
    found = {"content": [{"type": "text", "text": "the result is confidential"}]}
    hostile = "\x1b[31m\u202e evil " + SECRET
    with serve_web(tools_call=lambda one: one.result(found)) as site:
        async with traced(site, tmp_path) as (_, client):
            # The session's headers go with each request: here, the one that the tool asks for.
            client.session["Mcp-Param-Region"] = "confidential"
            await client.call("web__get_echo", {"password": "hunter2", "region": "confidential"})
            del client.session["Mcp-Param-Region"]
            await client.ask("tools/call", {"name": hostile})
            await client.ask("prompts/get", {"name": hostile})
            await client.ask("resources/read", {"uri": f"file:///confidential?{SECRET}"})
            await client.ask(f"evil/{SECRET}")

    assert collector.spans
    for word in (b"hunter2", b"confidential", SECRET.encode(), b"evil", "\u202e".encode()):
        assert word not in collector.raw


async def test_numbers_are_sent_by_the_names_of_the_conventions(
    collector: Collector, tmp_path: Path
) -> None:
    with serve_web() as site:
        async with traced(site, tmp_path) as (_, client):
            await client.call("web__get_echo")
            await client.ask("tools/call", {"name": "web__nothing"})

    called = {"mcp.method.name": "tools/call"}
    assert called in collector.metrics["mcp.server.operation.duration"]
    assert {**called, "error.type": "-32602"} in collector.metrics["mcp.server.operation.duration"]
    assert {**called, "sayso.server": "web"} in collector.metrics["mcp.client.operation.duration"]
    assert {
        "sayso.server": "web",
        "sayso.level": "read",
        "sayso.decision": "allow",
        "sayso.outcome": "ok",
    } in collector.metrics["sayso.calls"]


async def test_the_ends_of_the_logs_chain_are_told(collector: Collector) -> None:
    async with open_telemetry() as telemetry:
        assert telemetry.otel is not None
        telemetry.otel.emit(Head("w", 7, "m"))

    assert only(collector.named("sayso.audit.head")).attributes == {
        "sayso.audit.writer": "w",
        "sayso.audit.index": 7,
        "sayso.audit.mac": "m",
    }


async def test_a_collector_that_is_away_holds_up_neither_a_call_nor_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    before = set(threading.enumerate())
    with serve_web() as site, anyio.fail_after(60):
        async with traced(site, tmp_path) as (_, client):
            found = await client.call("web__get_echo", {"a": 1})

    assert found["structuredContent"] == {"a": 1}
    # The exporter gives up later, and says so in the log, which must not be another test's.
    exporters = [one for one in set(threading.enumerate()) - before if "Otel" in one.name]
    for exporter in exporters:
        await anyio.to_thread.run_sync(exporter.join, 60)
        assert not exporter.is_alive()


@pytest.mark.parametrize(
    "environment",
    [{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"}],
)
async def test_without_a_word_nobody_looks_on(environment: dict[str, str]) -> None:
    async with open_telemetry(environment=environment) as telemetry:
        assert (telemetry.watch, telemetry.otel, telemetry.prometheus) == (None, None, None)
