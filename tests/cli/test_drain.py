"""How `sayso gateway` ends: what runs may end, and whoever still waits is told what is known."""

import contextlib
import json
import re
import signal
import sqlite3
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from tests.cli.running import Started, started
from tests.connect.serving import listed, until, until_listed
from tests.gateway.serving import ERAS
from tests.replicas.serving import JOURNAL

pytestmark = pytest.mark.anyio


class Place:
    """A gateway over a server that writes down what it does."""

    def __init__(self, folder: Path, run: Started) -> None:
        self.run, self.store, self.journal = run, folder / "sayso.db", folder / "journal"
        self.mcp: str = run.addresses["mcp"]
        self.base = self.mcp.removesuffix("/mcp")

    def ran(self) -> list[int]:
        return [int(line) for line in self.journal.read_text().split()]

    def outcomes(self) -> dict[int, str]:
        """How each call ended, by its number."""
        sql = "SELECT body, payload FROM records WHERE event = 'outcome'"
        with contextlib.closing(sqlite3.connect(self.store)) as db:
            rows = [(json.loads(body), json.loads(payload)) for body, payload in db.execute(sql)]
        return {payload["arguments"]["number"]: body["outcome"] for body, payload in rows}


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    with begun(tmp_path, "--drain", "1.5") as place:
        yield place


@contextmanager
def begun(folder: Path, *more: str) -> Generator[Place]:
    words = ("gateway", "--port", "0", "--json", *more, "--store", f"sqlite:{folder / 'sayso.db'}")
    (folder / "journal").touch()
    with started(*words, "--", sys.executable, JOURNAL, str(folder / "journal")) as run:
        until_listed(run.addresses["mcp"])
        yield Place(folder, run)


@asynccontextmanager
async def calling(
    place: Place, era: str, *calls: tuple[str, int, float]
) -> AsyncGenerator[dict[int, Any]]:
    """Calls that have reached the server; when this is left, their answers are there."""
    answers: dict[int, Any] = {}
    async with Client(place.mcp, mode=era) as client:
        names = {name.rpartition("__")[2]: name for name in await listed(client)}

        async def call(tool: str, number: int, seconds: float) -> None:
            arguments = {"number": number} | ({"seconds": seconds} if seconds else {})
            answers[number] = await client.call_tool(names[tool], arguments)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for one in calls:
                    group.start_soon(call, *one)
                writes = [number for tool, number, _ in calls if tool == "append"]
                await until(lambda: set(writes) <= set(place.ran()))
                yield answers


@pytest.mark.parametrize("era", ERAS)
async def test_what_ends_in_time_is_answered_and_the_rest_is_told_what_is_known(
    place: Place, era: str
) -> None:
    calls = [("append", 1, 0.8), ("append", 2, 60.0), ("read", 3, 60.0), ("drop", 4, 0.0)]
    async with calling(place, era, *calls) as answers:
        await waiting(place)
        place.run.process.send_signal(signal.SIGTERM)

    assert not answers[1].is_error
    assert answers[2].meta["io.sayso/outcome"] == "outcome_unknown"
    assert "may have run or not" in answers[2].content[0].text
    assert "only reads" in answers[3].content[0].text
    assert "Make exactly the same call again" in answers[4].content[0].text
    assert answers[4].meta["io.sayso/approval"]["state"] == "pending"

    assert place.run.wait().code == 0
    assert place.ran() == [1, 2]
    assert place.outcomes() == {
        1: "ok",
        2: "outcome_unknown",
        3: "outcome_unknown",
        4: "waiting",
    }


async def test_what_a_person_tries_in_the_console_is_given_its_time_too(place: Place) -> None:
    async with httpx2.AsyncClient(base_url=place.base, trust_env=False) as browser:
        token = place.run.addresses["console"].partition("token=")[2]
        await browser.post("/console/login", data={"token": token}, headers={"origin": place.base})
        listed = (await browser.get("/console/tools", params={"q": "append"})).text
        (path,) = re.findall(r'href="(/console/tools/\w+)"', listed)
        csrf = re.findall(r'name="csrf" value="(\w+)"', listed)[0]
        for number, seconds in ((1, 0.8), (2, 60.0)):
            said = {
                "csrf": csrf,
                "mode": "json",
                "/": json.dumps({"number": number, "seconds": seconds}),
            }
            shown = await browser.post(f"{path}/try", data=said, headers={"origin": place.base})
            form = shown.text.partition("/run")[2].partition("</form>")[0]
            data = {
                name: unescape(one)
                for name, one in re.findall(r'name="(\w+)" value="([^"]*)"', form)
            }
            await browser.post(f"{path}/run", data=data, headers={"origin": place.base})
    await until(lambda: set(place.ran()) == {1, 2})

    place.run.process.send_signal(signal.SIGTERM)

    assert place.run.wait().code == 0
    assert place.outcomes() == {1: "ok", 2: "outcome_unknown"}


async def waiting(place: Place) -> None:
    """Until a question is open."""
    with contextlib.closing(sqlite3.connect(place.store)) as db:
        await until(lambda: bool(db.execute("SELECT 1 FROM approvals").fetchall()))


async def test_a_question_that_waited_is_joined_after_the_restart(
    place: Place, tmp_path: Path
) -> None:
    async with calling(place, "2026-07-28", ("drop", 4, 0.0)) as answers:
        await waiting(place)
        place.run.process.send_signal(signal.SIGTERM)
    place.run.wait()

    with begun(tmp_path, "--patience", "0.1") as again:
        async with calling(again, "2026-07-28", ("drop", 4, 0.0)) as later:
            pass

    assert later[4].meta["io.sayso/approval"] == answers[4].meta["io.sayso/approval"]


async def refused(browser: httpx2.AsyncClient) -> None:
    """Until `/readyz` says no."""
    with anyio.fail_after(60):
        while (await browser.get("/readyz")).status_code != 503:
            pass


async def closed(place: Place) -> None:
    """Until no new connection is taken: nobody asked `/readyz`, so that comes first."""
    where = httpx2.URL(place.base)
    with anyio.fail_after(60):
        while True:
            try:
                stream = await anyio.connect_tcp(where.host, where.port or 0)
            except OSError:
                return
            await stream.aclose()


async def test_balancers_are_told_before_requests_are_refused(place: Place) -> None:
    async with httpx2.AsyncClient(base_url=place.base, trust_env=False) as browser:
        assert (await browser.get("/healthz")).status_code == 200
        assert (await browser.get("/readyz")).status_code == 200

        place.run.process.send_signal(signal.SIGTERM)
        await refused(browser)
        # A new connection, which a balancer that has not asked yet may still make.
        async with Client(place.mcp, mode="2026-07-28") as client:
            assert (await client.list_tools()).tools

    assert place.run.wait().code == 0


async def test_connections_that_are_kept_open_end_with_an_answer_and_lose_no_request(
    tmp_path: Path,
) -> None:
    """As a balancer keeps them, which never asked `/readyz`."""
    with begun(tmp_path, "--drain", "1.5") as place:
        last: list[str | None] = []

        async def ask() -> None:
            async with httpx2.AsyncClient(base_url=place.base, trust_env=False) as kept:
                said = None
                while said != "close":
                    said = (await kept.get("/healthz")).headers.get("connection")
                    asked.set()
                last.append(said)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                asked = anyio.Event()
                for _ in range(8):
                    group.start_soon(ask)
                await asked.wait()
                place.run.process.send_signal(signal.SIGTERM)

        assert place.run.wait().code == 0
        assert last == ["close"] * 8


async def test_a_stream_on_which_nothing_is_said_ends_in_order(place: Place) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "a"},
        },
    }
    accept = {"accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=accept, timeout=10, trust_env=False) as client:
        session = (await client.post(place.mcp, json=hello)).headers["mcp-session-id"]
        async with client.stream("GET", place.mcp, headers={"mcp-session-id": session}) as stream:
            assert stream.status_code == 200
            place.run.process.send_signal(signal.SIGTERM)
            # The body is whole: a stream that broke off would raise.
            async for _ in stream.aiter_bytes():
                pass

    assert place.run.wait().code == 0


async def test_ctrl_c_twice_ends_it_with_all_written_down(tmp_path: Path) -> None:
    with begun(tmp_path) as place:
        async with calling(place, "2026-07-28", ("read", 7, 60.0), ("append", 8, 60.0)) as answers:
            place.run.process.send_signal(signal.SIGINT)
            await closed(place)
            place.run.process.send_signal(signal.SIGINT)

        done = place.run.wait()
        assert (done.code, done.err.count("Traceback")) == (130, 0), done.err
        assert place.outcomes() == {7: "outcome_unknown", 8: "outcome_unknown"}
        assert all(one.is_error for one in answers.values())


async def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with begun(tmp_path, "--drain", "60") as place:
        async with httpx2.AsyncClient(base_url=place.base, trust_env=False) as browser:
            await browser.get("/readyz")
            async with (
                Client(place.mcp, mode="2026-07-28") as client,
                anyio.create_task_group() as group,
            ):
                tools = (await client.list_tools()).tools
                name = next(tool.name for tool in tools if tool.name.endswith("append"))
                group.start_soon(client.call_tool, name, {"number": 7, "seconds": 60.0})
                await until(lambda: place.ran() == [7])
                place.run.process.send_signal(signal.SIGTERM)
                await refused(browser)
                place.run.process.send_signal(signal.SIGTERM)
                await until(lambda: place.run.process.poll() is not None)
                group.cancel_scope.cancel()

        done = place.run.wait()
        assert done.code == 130
        assert "Traceback" not in done.err
        assert place.outcomes()[7] == "outcome_unknown"
