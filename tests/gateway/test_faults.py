"""Faults during calls: nothing runs twice, nothing runs unrecorded, nothing leaks."""

import json
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from tests.connect.servers.faulty import TOOLS
from tests.connect.servers.web import MODERN, OLD, Exchange, serve_web
from tests.connect.serving import (
    RawClient,
    faulty,
    free_port,
    raw_client,
    serve_app,
    until_there,
)
from tests.gateway.serving import Served, serve

from sayso.connect import SavedTarget, UrlTarget
from sayso.errors import TargetError, UsageError
from sayso.gateway import make_app, open_gateway, upstream_view
from sayso.store import open_store
from sayso.store import sqlite as sqlite_module

pytestmark = pytest.mark.anyio

VERSIONS = [MODERN, OLD]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The file in which a server records the calls that reached it."""
    return tmp_path / "log"


@pytest.fixture(params=VERSIONS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def recorded(served: Served) -> list[tuple[str, str | None, str | None]]:
    """Event, outcome and severity of every line, oldest first."""
    rows = await served.gateway.guard.audit.newest()
    bodies = [(row.event, json.loads(row.body)) for row in reversed(rows)]
    return [(event, body.get("outcome"), body.get("severity")) for event, body in bodies]


def reached(log: Path) -> str:
    """Return the calls that reached the server."""
    return log.read_text() if log.exists() else ""


def text(result: dict[str, Any]) -> str:
    return "".join(block["text"] for block in result["content"])


async def test_a_write_whose_server_dies_is_unknown_and_never_sent_twice(
    era: str, log: Path, tmp_path: Path
) -> None:
    async with (
        serve(faulty("plain", "s"), store=tmp_path / "a.db") as served,
        raw_client(served.url, era) as client,
    ):
        lost = await client.call("s__add_crash", {"log": str(log)})
        after = await client.call("s__get_array")

        assert lost["isError"] is True
        assert "may have run or not" in text(lost)
        assert "not sent again" in text(lost)
        assert lost["_meta"]["io.sayso/outcome"] == "outcome_unknown"
        assert reached(log) == "crash\n"
        assert after["structuredContent"] == [1, None, "é"]
        assert await recorded(served) == [
            ("attempt", None, None),
            ("outcome", "outcome_unknown", "error"),
            ("attempt", None, None),
            ("outcome", "ok", "info"),
        ]


async def test_a_write_over_http_whose_answer_is_lost_is_unknown_and_never_sent_twice(
    era: str, tmp_path: Path
) -> None:
    with serve_web(era, tools_call=Exchange.drop) as site:
        async with (
            serve(UrlTarget("web", site.url), store=tmp_path / "a.db") as served,
            raw_client(served.url, era) as client,
        ):
            lost = await client.call("web__add_note")
            del site.faults["tools_call"]
            after = await client.call("web__add_note")

            assert "may have run or not" in text(lost)
            assert "isError" not in after
            outcomes = [outcome for _, outcome, _ in await recorded(served) if outcome]
            assert outcomes == ["outcome_unknown", "ok"]
        assert len(site.asked("tools/call")) == 2


async def test_a_read_whose_answer_is_lost_is_made_again(tmp_path: Path) -> None:
    def drop_once(exchange: Exchange) -> None:
        del site.faults["tools_call"]
        exchange.drop()

    with serve_web(tools_call=drop_once) as site:
        async with (
            serve(UrlTarget("web", site.url), store=tmp_path / "a.db") as served,
            raw_client(served.url, MODERN) as client,
        ):
            result = await client.call("web__get_echo", {"a": 1})
            assert result["structuredContent"] == {"a": 1}
            assert [event for event, _, _ in await recorded(served)] == [
                "attempt",
                "attempt",
                "outcome",
            ]
        assert len(site.asked("tools/call")) == 2


async def test_a_read_whose_every_answer_is_lost_says_so(tmp_path: Path) -> None:
    with serve_web(tools_call=Exchange.drop) as site:
        async with (
            serve(UrlTarget("web", site.url), store=tmp_path / "a.db") as served,
            raw_client(served.url, MODERN) as client,
        ):
            lost = await client.call("web__get_echo")
            assert lost["isError"] is True
            assert "may be made again" in text(lost)
        assert len(site.asked("tools/call")) > 1


@pytest.mark.parametrize("code", [401, 404, 429])
async def test_a_call_that_a_server_turns_away_has_not_run(code: int, tmp_path: Path) -> None:
    with serve_web(OLD, tools_call=lambda exchange: exchange.reply(code)) as site:
        async with (
            serve(UrlTarget("web", site.url), store=tmp_path / "a.db") as served,
            raw_client(served.url, MODERN) as client,
        ):
            refused = await client.call("web__add_note")
            del site.faults["tools_call"]
            after = await client.call("web__add_note")

            assert "Nothing was run" in text(refused)
            assert "isError" not in after
            outcomes = [outcome for _, outcome, _ in await recorded(served) if outcome]
            assert outcomes == ["unreachable", "ok"]


async def test_a_client_that_leaves_during_a_write_leaves_its_outcome_unknown(
    log: Path, tmp_path: Path
) -> None:
    async with serve(faulty("plain", "s"), store=tmp_path / "a.db") as served:
        async with Client(served.url) as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "s__add_hang", {"log": str(log)})
            await until_there(log, "hang")
            group.cancel_scope.cancel()
        await until_there(log, "cancelled")
        with anyio.fail_after(30):
            while len(lines := await recorded(served)) < 2:
                await anyio.sleep(0.005)

    assert lines[-1] == ("outcome", "outcome_unknown", "error")
    assert reached(log) == "hang\ncancelled\n"


async def test_a_write_that_takes_too_long_is_unknown(
    log: Path, tmp_path: Path, stack: AsyncExitStack
) -> None:
    store = open_store(f"sqlite:{tmp_path / 'a.db'}")
    stack.push_async_callback(store.close)
    targets = [faulty("plain", "s")]
    gateway = await stack.enter_async_context(open_gateway(targets, store, timeout=0.5))
    port = free_port("127.0.0.1")
    app = make_app(gateway, f"http://127.0.0.1:{port}")
    url = await stack.enter_async_context(serve_app(app, port))
    client = await stack.enter_async_context(raw_client(f"{url}/mcp", MODERN))

    lost = await client.call("s__add_hang", {"log": str(log)})

    assert "may have run or not" in text(lost)
    await until_there(log, "cancelled")


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Another program holds the database."""
    # It may be let go of by another thread than the one that took it.
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    with closing(other):
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


@pytest.mark.parametrize("tool", ["add_hang", "delete_all"])
async def test_what_cannot_be_recorded_does_not_run(
    tool: str, era: str, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_module, "_BUSY_SECONDS", 0.05)
    path = tmp_path / "a.db"
    async with (
        serve(faulty("plain", "s"), store=path) as served,
        raw_client(served.url, era) as client,
    ):
        await client.result("tools/list")
        with locked(path):
            refused = await client.call(f"s__{tool}", {"log": str(log)})
            unknown = await client.ask("tools/call", {"name": "s__nothing"})
        assert await recorded(served) == []
        after = await client.call("s__get_echo")

    assert refused["isError"] is True
    assert "Nothing was run" in text(refused)
    assert "cannot write its log" in text(refused)
    assert unknown["error"]["message"] == "Nothing was run: sayso cannot write its log."
    assert str(tmp_path) not in json.dumps([refused, unknown])
    assert reached(log) == ""
    assert "isError" not in after


async def test_a_call_whose_end_cannot_be_recorded_still_gets_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_module, "_BUSY_SECONDS", 0.05)
    path = tmp_path / "a.db"
    with ExitStack() as stack:

        def lock(exchange: Exchange) -> None:
            stack.enter_context(locked(path))
            exchange.result({"content": [], "structuredContent": "done"})

        with serve_web(tools_call=lock) as site:
            async with (
                serve(UrlTarget("web", site.url), store=path) as served,
                raw_client(served.url, MODERN) as client,
            ):
                result = await client.call("web__add_note")
                stack.close()
                assert await recorded(served) == [("attempt", None, None)]

    assert result["structuredContent"] == "done"


async def test_a_mistake_inside_sayso_is_told_by_number_alone(
    era: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> Any:
        message = "password hunter2"
        raise ValueError(message)

    monkeypatch.setattr(upstream_view.UpstreamView, "collect", broken)
    async with (
        serve(faulty("plain", "s"), store=tmp_path / "a.db") as served,
        raw_client(served.url, era) as client,
    ):
        message = await client.ask("prompts/list")

    assert message["error"]["code"] == -32603
    assert "incident" in message["error"]["message"]
    assert "hunter2" not in json.dumps(message)


async def test_a_saved_list_has_nothing_behind_it_to_call(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'a.db'}")
    with pytest.raises(TargetError, match="only inspected"):
        async with open_gateway([SavedTarget("saved", "tools.json")], store):
            raise AssertionError
    await store.close()


async def test_what_fails_beside_the_gateway_is_raised_as_it_is(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'a.db'}")
    with pytest.raises(UsageError, match="mine"):
        async with open_gateway([faulty("plain")], store):
            raise UsageError("mine")
    await store.close()


@pytest.fixture(scope="module")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[str]:
    """One gateway for all requests that never reach a server."""
    store = tmp_path_factory.mktemp("store") / "sayso.db"
    async with serve(faulty("plain", "s"), store=store) as served:
        yield served.url


@pytest.fixture(scope="module", params=VERSIONS)
async def client(request: pytest.FixtureRequest, url: str) -> AsyncGenerator[RawClient]:
    async with raw_client(url, request.param) as client:
        yield client


def dress(client: RawClient, **headers: str) -> dict[str, str]:
    return client.session | {"mcp-protocol-version": client.era} | headers


BATCH = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}] * 2)


@pytest.mark.parametrize(
    "body",
    [
        "{nonsense",
        "",
        "null",
        "7",
        BATCH,
        "[" * 100_000,
        '{"id": 1}',
        '{"jsonrpc": "2.0", "method": 7}',
    ],
    ids=lambda body: body[:30] or "empty",
)
async def test_a_body_that_is_no_request_gets_a_clean_error(client: RawClient, body: str) -> None:
    response = await client.post(body, **dress(client))

    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] in (-32700, -32600, -32602)
    assert "Traceback" not in response.text
    assert len((await client.result("tools/list"))["tools"]) == len(TOOLS)


async def test_a_body_that_is_too_large_is_refused_unread(client: RawClient) -> None:
    response = await client.post("x" * 5_000_000, **dress(client))

    assert response.status_code == 413
    assert len((await client.result("tools/list"))["tools"]) == len(TOOLS)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {}),
        ("tools/call", {"name": 7}),
        ("tools/call", {"name": "s__get_echo", "arguments": [1]}),
        ("tools/call", {"name": "s__get_echo", "arguments": "{}"}),
        ("tools/call", {"name": "s__get_echo", "_meta": 7}),
        ("tools/list", {"cursor": {}}),
        ("prompts/get", {"name": None}),
        ("resources/read", {}),
        ("resources/read", {"uri": 7}),
        ("completion/complete", {"ref": {"type": "ref/resource"}, "argument": {}}),
        ("completion/complete", {"ref": {"type": "ref/other"}}),
    ],
)
async def test_wrong_parameters_are_the_callers_mistake(
    client: RawClient, method: str, params: dict[str, Any]
) -> None:
    meta = params.get("_meta", {})
    if client.era == MODERN and meta == {}:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "amy", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    headers = dress(client, **{"mcp-method": method})
    if isinstance(name := params.get("name", params.get("uri")), str):
        headers["mcp-name"] = name

    response = await client.post(json.dumps(message), **headers)

    assert response.status_code in (200, 400)
    assert '"error"' in response.text
    assert "-32602" in response.text or "-32020" in response.text
    assert "input_value" not in response.text


async def test_numbers_that_json_cannot_hold_are_not_passed_on(client: RawClient) -> None:
    whole = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    params: dict[str, Any] = {"name": "s__get_echo", "arguments": {"a": float("inf")}}
    if client.era == MODERN:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "amy", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    body = json.dumps({**whole, "params": params}).replace("Infinity", "1e999")
    headers = {"mcp-method": "tools/call", "mcp-name": "s__get_echo"}

    response = await client.post(body, **dress(client, **headers))

    assert "Number out of range" in response.text


async def test_before_its_handshake_an_old_client_gets_nothing(url: str) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        client = RawClient(url, OLD, http, {})
        response = await client.post(
            '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', **dress(client)
        )

    assert response.status_code == 400
    assert "session" in response.text.lower()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1:1", "127.0.0.1.evil.example:80"]
)
async def test_a_request_that_names_a_foreign_host_is_refused(client: RawClient, host: str) -> None:
    response = await client.post("{}", **dress(client, host=host))

    assert response.status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:1", "http://127.0.0.1.evil.com:1"]
)
async def test_a_request_from_a_foreign_origin_is_refused(client: RawClient, origin: str) -> None:
    response = await client.post("{}", **dress(client, origin=origin))

    assert response.status_code == 403


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
async def test_every_name_of_this_machine_is_its_own(client: RawClient, host: str) -> None:
    port = client.url.split(":")[2].split("/")[0]
    headers = {"host": f"{host}:{port}", "origin": f"http://{host}:{port}"}
    response = await client.post("{}", **dress(client, **headers))

    assert response.status_code == 400


async def test_another_loopback_address_is_guarded_in_the_same_way(
    tmp_path: Path, stack: AsyncExitStack
) -> None:
    store = open_store(f"sqlite:{tmp_path / 'a.db'}")
    stack.push_async_callback(store.close)
    gateway = await stack.enter_async_context(open_gateway([faulty("plain", "s")], store))
    port = free_port("127.0.0.1")
    app = make_app(gateway, f"http://127.0.0.2:{port}")
    url = await stack.enter_async_context(serve_app(app, port))
    client = await stack.enter_async_context(raw_client(f"{url}/mcp", MODERN))

    foreign = await client.post("{}", host="evil.example")
    own = await client.post("{}", host=f"127.0.0.2:{port}")

    assert (foreign.status_code, own.status_code) == (421, 400)


async def test_other_methods_than_the_protocols_are_not_found(client: RawClient) -> None:
    message = await client.ask("tools/destroy")

    assert message["error"]["code"] == -32601
