"""Probes: they answer every client, tell strangers nothing, and report when no call can run."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import pytest
from tests.connect.serving import faulty, free_port, until
from tests.postgres import PostgresServer

from sayso.access import RefusedError, RequestInfo
from sayso.connect import UrlTarget
from sayso.errors import ConfigError, StoreError
from sayso.gateway import Gateway, make_app, open_gateway
from sayso.gateway.frontends.health import StoreCheck
from sayso.policy import LOCAL, Policy, Principal
from sayso.store import RecordRow, Records, open_store

pytestmark = pytest.mark.anyio

BASE = "http://127.0.0.1:8321"
STRANGER = "10.0.0.9"
WELL = {"ready": True, "store": "ok", "policy": "ok", "gateway": "ok"}


class Known:
    """An access that admits the right token."""

    async def identify(self, request: RequestInfo) -> Principal:
        if request.bearer() != "good":
            raise RefusedError(401, "Who are you?")
        return Principal("amy", scopes=frozenset())

    def metadata(self, path: str) -> None:
        del path


@asynccontextmanager
async def opened(store: str, **more: Any) -> AsyncGenerator[tuple[Gateway, Any]]:
    """A gateway over a server that is up and one that is not, and its application."""
    kept = open_store(store)
    dead = UrlTarget("dead", f"http://127.0.0.1:{free_port('127.0.0.1')}/mcp")
    try:
        async with open_gateway([faulty("plain", "s"), dead], kept, **more) as gateway:
            yield gateway, make_app(gateway, BASE, access=Known())
    finally:
        await kept.close()


async def probe(app: Any, path: str = "/readyz", peer: str = STRANGER, **headers: str) -> Any:
    transport = httpx2.ASGITransport(app, client=(peer, 1))
    async with httpx2.AsyncClient(transport=transport, base_url=BASE) as http:
        return await http.get(path, headers={"host": "10.1.2.3:8321", **headers})


@pytest.fixture
def store(tmp_path: Path) -> str:  # pyright: ignore[reportUnknownParameterType]
    return f"sqlite:{tmp_path / 'a.db'}"


async def test_a_probe_by_the_address_of_a_pod_is_answered(store: str) -> None:
    async with opened(store) as (_, app):
        live, ready = await probe(app, "/healthz"), await probe(app)

    assert (live.status_code, live.json()) == (200, {"live": True})
    assert (ready.status_code, ready.json()) == (200, WELL)
    assert ready.headers["cache-control"] == "no-store"


async def test_life_is_told_without_the_store(store: str) -> None:
    async with opened(store) as (gateway, app):
        await gateway.store.close()
        live, ready = await probe(app, "/healthz"), await probe(app)

    assert live.status_code == 200
    assert ready.status_code == 503
    assert ready.json() == {**WELL, "ready": False, "store": "cannot be reached"}


async def test_strangers_do_not_learn_which_servers_there_are(store: str) -> None:
    async with opened(store) as (gateway, app):
        await gateway.upstreams.of(Principal(LOCAL)).catalog()
        own = {"host": "127.0.0.1:8321"}
        strange = [
            await probe(app),
            await probe(app, authorization="Bearer bad", **own),
            # What comes by a proxy on this machine comes from anywhere, and a page from elsewhere
            # may have its name point here.
            await probe(app, peer="127.0.0.1", **own, **{"x-forwarded-for": STRANGER}),
            await probe(app, peer="127.0.0.1"),
            await probe(app, peer="127.0.0.1", **own, origin="http://evil.example"),
            await probe(app, peer="127.0.0.1", **own),
        ]
        told = await probe(app, authorization="Bearer good", **own)

    assert [one.json() for one in strange] == [WELL] * 6
    assert told.json() == {**WELL, "upstreams": {"s": "up", "dead": "down"}}


async def test_a_server_that_nobody_has_wanted_yet_is_not_called_down(store: str) -> None:
    async with opened(store) as (_, app):
        found = await probe(app, authorization="Bearer good", host="127.0.0.1:8321")

    assert found.json()["upstreams"] == {"s": "not yet wanted", "dead": "not yet wanted"}


async def test_a_server_that_has_ended_is_down_until_it_is_wanted_again(store: str) -> None:
    async with opened(store) as (gateway, _):
        upstream = gateway.upstreams.owner("s")
        connection = upstream.of(Principal(LOCAL))
        link = await connection.link()
        was_up = upstream.is_up
        link.closed.set()
        await until(lambda: not upstream.is_up)

        assert was_up
        await connection.link()
        assert upstream.is_up


async def test_a_gateway_that_drains_is_not_ready(store: str) -> None:
    async with opened(store) as (gateway, app):
        gateway.guard.shutdown.is_near = True
        ready, live = await probe(app), await probe(app, "/healthz")

    assert (ready.status_code, live.status_code) == (503, 200)
    assert ready.json() == {**WELL, "ready": False, "gateway": "draining"}


async def test_without_a_policy_it_is_not_ready(store: str) -> None:
    def none() -> Policy:
        raise ConfigError("there is none", where="policy.toml")

    async with opened(store, policy=none) as (_, app):
        ready = await probe(app)

    assert ready.status_code == 503
    assert ready.json() == {**WELL, "ready": False, "policy": "cannot be used"}


async def test_a_probe_only_reads(store: str) -> None:
    async with opened(store) as (_, app):
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url=BASE) as http:
            found = await http.post("/readyz", json={})

    assert (found.status_code, found.headers["allow"]) == (405, "GET, HEAD")


class Slow:
    """A store that answers when the test says so."""

    def __init__(self) -> None:
        self.asked = 0
        self.goes_on = asyncio.Event()
        self.error: StoreError | None = None

    async def newest(self, *, limit: int) -> list[RecordRow]:
        del limit
        self.asked += 1
        await self.goes_on.wait()
        if self.error is not None:
            raise self.error
        return []


async def test_a_store_that_hangs_is_asked_once_and_holds_no_probe_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slow = Slow()
    check = StoreCheck(cast("Records", slow), seconds=0.05)

    found: list[bool] = []

    async def look() -> None:
        found.append(await check.is_reachable())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(look)
        found.append(await check.is_reachable())
        slow.goes_on.set()
        found.append(await check.is_reachable())
        found.append(await check.is_reachable())

    assert found == [False] * 51 + [True] * 2
    assert slow.asked == 1
    # Told when it changes, not with every probe.
    assert [one.message for one in caplog.records] == [
        "the store: no answer within 0.05 s",
        "the store: it can be reached again",
    ]


async def test_it_is_ready_again_once_postgresql_is_back(postgres: PostgresServer) -> None:
    async def until(app: Any, status: int) -> Any:
        with anyio.fail_after(60):
            while (found := await probe(app)).status_code != status:
                await anyio.sleep(0.1)
        return found

    async with opened(postgres.fresh()) as (_, app):
        before = await probe(app)
        await anyio.to_thread.run_sync(postgres.stop)
        try:
            without = await until(app, 503)
        finally:
            await anyio.to_thread.run_sync(postgres.start)
        after = await until(app, 200)

    assert before.json() == after.json() == WELL
    assert without.json() == {**WELL, "ready": False, "store": "cannot be reached"}


async def test_only_probes_are_answered_under_another_name(store: str) -> None:
    async with opened(store) as (gateway, _):
        found = await probe(make_app(gateway, BASE), "/mcp", "127.0.0.1")

    assert found.status_code == 421
