"""`sayso gateway --workers`: several processes on one port, one of which may die."""

import contextlib
import os
import re
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from tests.cli.running import Started, python, sayso_process, started
from tests.cli.test_drain import JOURNAL, Place, calling
from tests.cli.test_gateway import children_of
from tests.connect.serving import listed, until

pytestmark = pytest.mark.anyio


@pytest.fixture
def run(tmp_path: Path) -> Generator[Started]:
    (tmp_path / "journal").touch()
    words = ("gateway", "--port", "0", "--json", "--workers", "2", "--drain", "1")
    store = f"sqlite:{tmp_path / 'sayso.db'}"
    server = (sys.executable, JOURNAL, str(tmp_path / "journal"))
    with started(*words, "--store", store, "--", *server) as run:
        yield run
        with contextlib.suppress(ProcessLookupError):
            run.process.send_signal(signal.SIGTERM)
            run.process.wait(60)


async def workers_of(run: Started, count: int = 2, *, without: int = 0) -> set[int]:
    """The processes that serve, once there are so many."""
    found = set[int]()

    def are_there() -> bool:
        found.clear()
        found.update({*children_of(run.process.pid)} - {without})
        return len(found) == count

    await until(are_there, 15)
    return found


async def answered_by(run: Started, count: int) -> set[str]:
    """The processes behind so many answers, each on a connection of its own.

    Each worker has its own process of the server, whose number the answer holds.
    """
    found: set[str] = set()
    for number in range(count):
        async with Client(run.addresses["mcp"], mode="2026-07-28") as client:
            name = next(one for one in await listed(client) if "read" in one)
            answer = await client.call_tool(name, {"number": number})
        assert not answer.is_error
        found.add(re.findall(r"in (\d+)", getattr(answer.content[0], "text", ""))[0])
    return found


async def test_several_processes_answer_on_one_port_and_it_is_told_once(run: Started) -> None:
    await workers_of(run)
    with anyio.fail_after(30):
        while len(await answered_by(run, 8)) < 2:
            pass

    done = await anyio.to_thread.run_sync(run.end)
    assert done.code == 0
    assert done.out.count("\n") == 1
    assert done.err == ""


async def test_who_is_logged_in_is_known_to_all_of_them(run: Started) -> None:
    await workers_of(run)
    link = run.addresses["console"]
    base = link.partition("/console")[0]
    async with httpx2.AsyncClient(base_url=base, trust_env=False) as browser:
        token = {"token": link.partition("token=")[2]}
        entered = await browser.post("/console/login", data=token)
        assert entered.status_code == 303
        cookies = dict(browser.cookies)
    for _ in range(12):
        # Each on a connection of its own, which either of them may take.
        async with httpx2.AsyncClient(base_url=base, cookies=cookies, trust_env=False) as browser:
            assert (await browser.get("/console/")).status_code == 200
            assert (await browser.post("/console/login", data=token)).status_code == 410


async def test_another_one_takes_the_place_of_one_that_was_killed(
    run: Started, tmp_path: Path
) -> None:
    first, second = await workers_of(run)
    os.kill(first, signal.SIGKILL)

    assert await answered_by(run, 4)
    again = await workers_of(run, without=first)

    assert second in again
    place = Place(tmp_path, run)
    async with calling(place, "2026-07-28", ("append", 1, 0.0), ("append", 2, 0.0)) as answers:
        pass
    assert [answers[number].is_error for number in (1, 2)] == [False, False]


async def test_no_worker_outlives_its_parent(run: Started) -> None:
    workers = await workers_of(run)
    run.process.kill()

    await until(lambda: not any(alive(pid) for pid in workers), 15)


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
async def test_the_end_of_the_parent_is_the_end_of_all_and_calls_are_told(
    run: Started, tmp_path: Path, number: int, code: int
) -> None:
    workers, place = await workers_of(run), Place(tmp_path, run)
    async with calling(place, "2026-07-28", ("append", 1, 0.5), ("append", 2, 60.0)) as answers:
        run.process.send_signal(number)

    assert (await anyio.to_thread.run_sync(run.wait)).code == code
    assert not any(alive(pid) for pid in workers)
    assert not answers[1].is_error
    assert answers[2].meta["io.sayso/outcome"] == "outcome_unknown"
    assert place.outcomes() == {1: "ok", 2: "outcome_unknown"}


def test_one_that_cannot_begin_says_why_once(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'sayso.db'}"
    words = ("gateway", "--port", "0", "--json", "--workers", "3", "--store", store)

    done = sayso_process(*words, "--", *python("exits"))

    assert done.error["code"] == "server-exited"
    assert done.code == 4


@pytest.mark.parametrize("words", [("--workers", "0"), ("--workers", "2", "--stdio")])
def test_a_number_that_cannot_be_is_refused(words: tuple[str, ...]) -> None:
    done = sayso_process("gateway", "--json", *words, "--", *python("plain"))

    assert (done.code, done.error["where"]) == (2, "--workers")
