"""Clocks that jump: `sayso gateway` in a process whose `time.time` is set by a file."""

import json
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.attacks.serving import CLI_KEYS
from tests.cli.running import SOURCE, Started, python, started
from tests.connect.servers.web import MODERN, OLD
from tests.connect.serving import RawClient, raw_client, until_listed

pytestmark = pytest.mark.anyio

CLOCK = """
import os, pathlib, time
_now, _file = time.time, pathlib.Path(os.environ["CLOCK"])
time.time = lambda: _now() + float(_file.read_text() or 0)
"""
DAY = 86_400
DESTROYING = "delete_all"


class Clock:
    """The clock of one gateway, ahead of the true one by so many seconds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.set(0)

    def set(self, seconds: float) -> None:
        later = self._path.with_suffix(".new")
        later.write_text(str(seconds))
        later.replace(self._path)


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    return Clock(tmp_path / "clock")


@pytest.fixture
def run(clock: Clock, store: str, tmp_path: Path) -> Generator[Started]:
    assert clock
    (tmp_path / "sitecustomize.py").write_text(CLOCK)
    words = ("gateway", "--port", "0", "--json", "--patience", "0.3", "--store", store, "--")
    path = f"{tmp_path}:{SOURCE}"
    with started(
        *words,
        *python("plain"),
        CLOCK=str(tmp_path / "clock"),
        PYTHONPATH=path,
        SAYSO_KEYS=CLI_KEYS,
    ) as running:
        until_listed(running.addresses["mcp"])
        yield running


@asynccontextmanager
async def client_of(run: Started, era: str) -> AsyncGenerator[tuple[RawClient, str]]:
    """A client, and what its tools' names begin with."""
    async with raw_client(run.addresses["mcp"], era) as client:
        tools = (await client.result("tools/list"))["tools"]
        (name,) = [one["name"] for one in tools if one["name"].endswith(DESTROYING)]
        yield client, name.removesuffix(DESTROYING)


@pytest.mark.parametrize("era", [MODERN, OLD])
async def test_calls_go_on_whichever_way_the_clock_jumps(
    run: Started, clock: Clock, era: str
) -> None:
    async with client_of(run, era) as (client, prefix):
        for ahead in (0, 3 * DAY, -3 * DAY, 0):
            clock.set(ahead)
            begun = time.monotonic()
            assert "isError" not in await client.call(f"{prefix}get_echo")
            assert time.monotonic() - begun < 5


async def test_a_session_ends_when_its_days_are_over(run: Started, clock: Clock) -> None:
    async with client_of(run, OLD) as (client, _):
        clock.set(8 * DAY)
        ping = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
        found = await client.post(ping, **client.session)
        assert found.status_code == 404


async def test_a_clock_that_jumps_answers_no_question_and_asks_none_twice(
    run: Started, clock: Clock, store: str
) -> None:
    async with client_of(run, MODERN) as (client, prefix):
        told = [_number(await client.call(f"{prefix}{DESTROYING}"))]
        for ahead in (-3 * DAY, -60, 0):
            clock.set(ahead)
            told.append(_number(await client.call(f"{prefix}{DESTROYING}")))
        assert len(set(told)) == 1
        clock.set(30 * DAY)
        later = await client.call(f"{prefix}{DESTROYING}")
        assert later["isError"] is True
        # With PostgreSQL the database's clock counts, which has not jumped.
        assert (_number(later) in told) == store.startswith("postgresql")
    console = httpx2.get(run.addresses["console"], follow_redirects=False, trust_env=False)
    assert console.status_code in (400, 401, 403, 404, 410), "the link is old by then"


def _number(result: dict[str, Any]) -> str:
    """Which question a call waits for."""
    assert result["isError"] is True
    found = result.get("_meta", {})
    return json.dumps({key: found[key] for key in found if key.startswith("io.sayso/")})
