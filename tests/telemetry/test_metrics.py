"""The page of metrics, as Prometheus' own parser reads it."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from opentelemetry.metrics import NoOpMeter
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families
from tests.connect.servers.web import MODERN, OLD, Exchange, serve_web
from tests.connect.serving import faulty, free_port, raw_client, until
from tests.gateway.serving import Served, serve

from sayso.access import own_names
from sayso.approvals import Answer
from sayso.connect import UrlTarget
from sayso.errors import StoreError
from sayso.guard import UnknownToolError
from sayso.policy import LOCAL, Principal
from sayso.telemetry.gauge import Gauge, Reading
from sayso.telemetry.metrics import Metrics, ObservedGauges
from sayso.telemetry.metrics_page import MetricsPage, Prometheus
from sayso.telemetry.setup import Telemetry, open_telemetry

pytestmark = pytest.mark.anyio

OWN = Principal(LOCAL)
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@contextlib.asynccontextmanager
async def metered(*targets: Any, store: Path, **more: Any) -> AsyncGenerator[tuple[Served, Any]]:
    """A gateway that counts, and what reads the page of it."""
    async with (
        open_telemetry(has_metrics=True, has_otel=False) as telemetry,
        serve(*targets, store=store, telemetry=telemetry, **more) as served,
    ):
        prometheus = metrics_of(telemetry)

        async def read() -> Samples:
            text, _ = await prometheus.page("text/plain")
            return samples(text.decode())

        yield served, read


def metrics_of(telemetry: Telemetry) -> Prometheus:
    assert telemetry.prometheus is not None
    return telemetry.prometheus


def samples(text: str) -> Samples:
    """Every value that is not a bucket or the time that something was made."""
    return {
        (one.name, frozenset(one.labels.items())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
        if not one.name.endswith(("_bucket", "_created"))
    }


def value(found: Samples, name: str, **labels: str) -> float | None:
    return found.get((name, frozenset(labels.items())))


@pytest.mark.parametrize("era", [MODERN, OLD])
@pytest.mark.process
async def test_calls_are_counted_by_server_level_decision_and_outcome(
    era: str, tmp_path: Path
) -> None:
    async with metered(faulty("plain", "s"), store=tmp_path / "a.db") as (served, read):
        async with raw_client(served.url, era) as client:
            await client.result("tools/list")
            await client.call("s__get_array")
            await client.call("s__get_array")
            await client.ask("tools/call", {"name": "s__nothing"})
        found = await read()

    read_ok = {"server": "s", "level": "read", "decision": "allow", "outcome": "ok"}
    nobody = {"server": "", "level": "", "decision": "", "outcome": "unknown_tool"}
    assert value(found, "sayso_calls_total", **read_ok) == 2
    assert value(found, "sayso_calls_total", **nobody) == 1
    assert value(found, "sayso_requests_total", method="tools/call", error="") == 2
    assert value(found, "sayso_requests_total", method="tools/call", error="-32602") == 1
    assert value(found, "sayso_call_seconds_count", server="s", level="read") == 2
    assert value(found, "sayso_decision_seconds_count") == 2
    assert value(found, "sayso_upstream_seconds_count", server="s", method="tools/call") == 2
    assert value(found, "sayso_upstream_connections", server="s") == 1
    assert (value(found, "sayso_upstream_entries", server="s", list="tools/list") or 0) >= 10
    assert (value(found, "sayso_store_writes_total") or 0) > 0
    assert value(found, "sayso_store_queue") == 0
    assert (value(found, "sayso_received_bytes_total") or 0) > 300
    assert (value(found, "sayso_sent_bytes_total") or 0) > 1000


@pytest.mark.process
async def test_time_in_the_guard_is_less_than_all_of_it(tmp_path: Path) -> None:
    async with metered(faulty("plain", "s"), store=tmp_path / "a.db") as (served, read):
        async with raw_client(served.url, MODERN) as client:
            await client.call("s__get_array")
        found = await read()

    deciding = value(found, "sayso_decision_seconds_sum") or 0
    asking = value(found, "sayso_upstream_seconds_sum", server="s", method="tools/call") or 0
    taken = value(found, "sayso_call_seconds_sum", server="s", level="read") or 0
    assert 0 < deciding < taken
    assert 0 < asking < taken


@pytest.mark.process
async def test_questions_wait_and_people_take_their_time(tmp_path: Path) -> None:
    async with metered(faulty("plain", "s"), store=tmp_path / "a.db", patience=0.1) as (
        served,
        read,
    ):
        approvals = served.gateway.guard.approvals
        async with raw_client(served.url, MODERN) as client:
            await client.call("s__delete_all")
            waiting = await read()
            (open_,) = await approvals.newest()
            await approvals.answer(
                open_.number, Answer(is_allowed=False, by="amy", channel="console")
            )
            await client.call("s__delete_all")
        found = await read()

    assert value(waiting, "sayso_approvals_waiting") == 1
    assert value(found, "sayso_approvals_waiting") == 0
    assert value(found, "sayso_approval_answer_seconds_count", answer="deny") == 1
    asked = {"server": "s", "level": "destructive", "decision": "confirm"}
    assert value(found, "sayso_calls_total", **asked, outcome="waiting") == 1
    assert value(found, "sayso_calls_total", **asked, outcome="denied") == 1


async def test_a_server_that_fails_is_seen(tmp_path: Path) -> None:
    with serve_web(tools_call=Exchange.drop) as site:
        target = UrlTarget("web", site.url)
        async with metered(target, store=tmp_path / "a.db") as (served, read):
            async with raw_client(served.url, MODERN) as client:
                await client.call("web__add_note")
            found = await read()
            upstream = served.gateway.upstreams.owner("web")
            (await upstream.of(OWN).link()).closed.set()
            await until(lambda: upstream.health().is_failing)
            after = await read()
            await upstream.of(OWN).link()
            again = await read()

    lost = {"server": "web", "method": "tools/call", "error": "lost"}
    assert value(found, "sayso_upstream_errors_total", **lost) == 1
    for samples, connections in [(found, 1), (after, 0), (again, 1)]:
        assert value(samples, "sayso_upstream_connections", server="web") == connections
        assert value(samples, "sayso_upstream_failing", server="web") == 1 - connections


async def test_a_server_that_cannot_be_had_is_failing(tmp_path: Path) -> None:
    dead = UrlTarget("dead", f"http://127.0.0.1:{free_port('127.0.0.1')}/mcp")
    async with metered(dead, store=tmp_path / "a.db") as (served, read):
        before = await read()
        await served.gateway.upstreams.of(OWN).catalog()
        after = await read()

    assert value(before, "sayso_upstream_failing", server="dead") == 0
    assert value(after, "sayso_upstream_failing", server="dead") == 1


@pytest.mark.process
async def test_a_session_counts_while_something_goes_on_in_it(tmp_path: Path) -> None:
    async with metered(faulty("plain", "s"), store=tmp_path / "a.db", patience=1) as (
        served,
        read,
    ):
        async with raw_client(served.url, OLD) as client, anyio.create_task_group() as group:
            group.start_soon(client.call, "s__delete_all")
            with anyio.fail_after(30):
                while not value(await read(), "sayso_sessions"):
                    await anyio.sleep(0.02)
        assert value(await read(), "sayso_sessions") == 0


@pytest.mark.process
async def test_ten_thousand_names_and_hostile_clients_add_no_lines(tmp_path: Path) -> None:
    hostile = ['evil"} 1\n# HELP x', "\\", "\u202e", "x" * 5_000]
    async with metered(faulty("plain", "s"), store=tmp_path / "a.db") as (served, read):
        guard = served.gateway.guard

        async def call(name: str) -> None:
            with contextlib.suppress(UnknownToolError):
                await guard.call(Principal("local", f"client {name}"), name, {})

        async def attack() -> None:
            async with raw_client(served.url, MODERN) as client:
                await client.result("tools/list")
                await client.ask("tools/call", {"name": 'evil"} 1'})
                await client.ask("evil/" + "x" * 200)

        await attack()
        before = await read()
        async with anyio.create_task_group() as group:
            for start in range(100):
                group.start_soon(_each, call, [f"s__{start}_{one}" for one in range(100)])
        for word in hostile:
            await call(word)
        await attack()
        after = await read()

    nobody = {"server": "", "level": "", "decision": "", "outcome": "unknown_tool"}
    assert (value(after, "sayso_calls_total", **nobody) or 0) > 10_000
    assert before.keys() == after.keys()
    assert value(after, "sayso_requests_total", method="_OTHER", error="-32601") == 2
    words = {word for _, labels in after for _, word in labels}
    assert not any("evil" in word or "s__" in word or "xx" in word for word in words)


async def _each(call: Any, names: list[str]) -> None:
    for name in names:
        await call(name)


@pytest.mark.process
async def test_what_the_store_could_not_write_is_counted(tmp_path: Path) -> None:
    async with metered(faulty("plain", "s"), store=tmp_path / "a.db") as (served, read):
        await served.gateway.upstreams.of(OWN).catalog()
        await served.gateway.store.close()
        async with raw_client(served.url, MODERN) as client:
            await client.call("s__get_array")
        found = await read()

    # The questions that wait cannot be counted any more; the rest of the page stands.
    assert value(found, "sayso_approvals_waiting") is None
    assert value(found, "sayso_upstream_connections", server="s") == 1


async def test_a_gauge_that_hangs_is_left_out_and_not_read_again(tmp_path: Path) -> None:
    del tmp_path
    goes_on, reads = asyncio.Event(), 0

    async def hang() -> Reading:
        nonlocal reads
        reads += 1
        await goes_on.wait()
        return [((), 1.0)]

    async def fail() -> Reading:
        raise StoreError("gone")

    async def well() -> Reading:
        return [((), 2.0)]

    gauges = ObservedGauges(NoOpMeter("page"))
    assert await gauges.read(1) == []
    gauges.watch([Gauge("a", "", hang), Gauge("b", "", fail), Gauge("c", "", well)])
    first = await gauges.read(0.05)
    await gauges.read(0.05)
    goes_on.set()
    last = await gauges.read(1)

    assert (first, last, reads) == (["c"], ["a", "c"], 1)


@pytest.fixture
def page() -> MetricsPage:
    prometheus = Prometheus()
    Metrics(prometheus.meter)
    return MetricsPage(prometheus, own_names("http://127.0.0.1:9464"))


async def get(page: MetricsPage, path: str = "/metrics", **headers: str) -> httpx2.Response:
    transport = httpx2.ASGITransport(page)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:9464") as http:
        return await http.get(path, headers=headers)


async def test_the_page_comes_in_the_format_that_is_asked_for(page: MetricsPage) -> None:
    plain = await get(page)
    modern = await get(page, accept="application/openmetrics-text; version=1.0.0")

    assert plain.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert value(samples(plain.text), "sayso_store_errors_total") == 0
    assert modern.headers["content-type"].startswith("application/openmetrics-text")
    assert [*openmetrics.text_string_to_metric_families(modern.text)]


async def test_the_page_of_this_machine_answers_by_no_other_name(page: MetricsPage) -> None:
    assert (await get(page, host="evil.example")).status_code == 421
    assert (await get(page, "/other")).status_code == 404
    anywhere = MetricsPage(page.metrics)
    assert (await get(anywhere, host="10.0.0.7:9464")).status_code == 200


async def test_the_page_only_reads(page: MetricsPage) -> None:
    transport = httpx2.ASGITransport(page)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:9464") as http:
        assert (await http.post("/metrics")).status_code == 405
