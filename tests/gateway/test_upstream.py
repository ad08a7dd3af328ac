"""One server behind the gateway: connected once for all, and again after it was lost."""

import contextlib
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.connect.servers.faulty import TOOLS
from tests.connect.servers.web import MODERN, OLD, Exchange, Site, serve_web
from tests.connect.serving import SERVERS, faulty, until

from sayso.connect import CommandTarget, RpcError, UrlTarget
from sayso.connect.link import Link
from sayso.errors import (
    AuthenticationError,
    NotMcpError,
    ServerExitedError,
    TimedOutError,
    UnreachableError,
)
from sayso.gateway import connection as connection_module
from sayso.gateway import lists as lists_module
from sayso.gateway.connection import ServerConnection
from sayso.gateway.upstream import Upstream
from sayso.policy import LOCAL, Principal

pytestmark = pytest.mark.anyio

COUNTED = """
import runpy, sys
with open(sys.argv[2], "a") as file:
    file.write("started\\n")
runpy.run_path(sys.argv[3], run_name="__main__")
"""


@asynccontextmanager
async def holding(
    target: CommandTarget | UrlTarget, timeout: float = 5, **more: Any
) -> AsyncGenerator[Upstream]:
    """A server that runs for any caller."""
    upstream = Upstream(target, timeout=timeout, **more)
    async with anyio.create_task_group() as group:
        group.start_soon(upstream.run)
        yield upstream
        group.cancel_scope.cancel()


@asynccontextmanager
async def running(
    target: CommandTarget | UrlTarget, timeout: float = 5, **more: Any
) -> AsyncGenerator[ServerConnection]:
    """The connection to it of one caller."""
    async with holding(target, timeout, **more) as upstream:
        yield upstream.of(Principal(LOCAL))


@pytest.fixture
def counted(tmp_path: Path) -> CommandTarget:
    """The sound server, which writes down each of its starts."""
    return counting("plain", tmp_path)


def counting(mode: str, folder: Path) -> CommandTarget:
    program = folder / "counted.py"
    program.write_text(COUNTED)
    words = (str(program), mode, str(folder / "starts"), str(SERVERS / "faulty.py"))
    return CommandTarget("counted", sys.executable, words)


def starts(folder: Path) -> int:
    path = folder / "starts"
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def site() -> Generator[Site]:
    with serve_web() as site:
        yield site


async def crash(link: Link, log: Path) -> None:
    arguments = {"log": str(log)}
    with pytest.raises(RpcError):
        await link.request("tools/call", {"name": "add_crash", "arguments": arguments}, timeout=60)


@pytest.mark.process
async def test_nothing_is_started_before_it_is_needed(
    counted: CommandTarget, tmp_path: Path
) -> None:
    async with running(counted):
        await anyio.wait_all_tasks_blocked()
    assert starts(tmp_path) == 0


@pytest.mark.process
async def test_many_callers_share_one_connection(counted: CommandTarget, tmp_path: Path) -> None:
    links: list[Link] = []
    async with running(counted) as upstream:

        async def connect() -> None:
            links.append(await upstream.link())

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(connect)
        assert len(links) == 10
        assert len({id(link) for link in links}) == 1
        assert len((await upstream.tools())[0]) == len(TOOLS)
    assert starts(tmp_path) == 1


@pytest.mark.process
async def test_a_connection_that_was_lost_is_made_again_when_it_is_needed(
    counted: CommandTarget, tmp_path: Path
) -> None:
    async with running(counted) as upstream:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(upstream.link)
        first = await upstream.link()
        await crash(first, tmp_path / "log")
        await until(first.closed.is_set)
        await anyio.wait_all_tasks_blocked()
        assert starts(tmp_path) == 1
        assert await upstream.link() is not first
        assert len((await upstream.tools())[0]) == len(TOOLS)
    assert starts(tmp_path) == 2


@pytest.mark.process
async def test_a_dead_server_is_not_started_anew_for_every_caller(tmp_path: Path) -> None:
    async with running(counting("garbage-exits", tmp_path)) as upstream:

        async def fail() -> None:
            with pytest.raises(NotMcpError):
                await upstream.link()

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(fail)
        for _ in range(5):
            await fail()
        # Once in each era: a server of an older SDK dies of the probe.
        assert starts(tmp_path) == 2


@pytest.mark.process
async def test_a_dead_server_is_tried_again_after_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.gateway.backoff._PAUSE_SECONDS", 0)
    async with running(counting("garbage-exits", tmp_path)) as upstream:
        with pytest.raises(NotMcpError):
            await upstream.link()
        mended = COUNTED.replace("with open", "sys.argv[1] = 'plain'\nwith open")
        (tmp_path / "counted.py").write_text(mended)
        assert len((await upstream.tools())[0]) == len(TOOLS)


async def test_a_server_that_hangs_is_waited_for_in_full_only_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sayso.gateway.backoff._PAUSE_SECONDS", 0)
    monkeypatch.setattr(connection_module, "_AGAIN_SECONDS", 0.05)
    with serve_web(any=Exchange.hang) as site:
        async with running(UrlTarget("web", site.url), timeout=1) as upstream:
            with pytest.raises(TimedOutError):
                await upstream.link()
            with pytest.raises(TimedOutError), anyio.fail_after(0.8):
                await upstream.link()
            del site.faults["any"]
            await until(lambda: len(site.asked("server/discover")) == 2)
            with anyio.fail_after(60):
                while True:
                    with contextlib.suppress(TimedOutError):
                        assert await upstream.link()
                        break


async def test_a_list_is_asked_for_once_in_a_while(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(UrlTarget("web", site.url)) as upstream:
        first, _ = await upstream.tools()
        again, _ = await upstream.tools()
        assert again is first
        assert len(site.asked("tools/list")) == 1
        monkeypatch.setattr(lists_module, "FRESH_SECONDS", 0)
        # It is given as it was, and asked for beside.
        assert (await upstream.tools())[0] is first
        await until(lambda: len(site.asked("tools/list")) == 2)


async def test_a_list_that_a_server_does_not_offer_is_empty_and_not_asked_for(site: Site) -> None:
    async with running(UrlTarget("web", site.url)) as upstream:
        assert await upstream.entries("prompts/list") == []
    assert site.asked("prompts/list") == []


async def test_a_list_that_fails_is_an_unreachable_server_and_the_next_may_work(
    site: Site,
) -> None:
    site.faults["tools_list"] = Exchange.drop
    async with running(UrlTarget("web", site.url)) as upstream:
        with pytest.raises(UnreachableError, match="tools/list failed") as caught:
            await upstream.tools()
        assert caught.value.where == "web"
        del site.faults["tools_list"]
        assert len((await upstream.tools())[0]) == 2


@pytest.mark.process
async def test_a_server_that_dies_while_it_lists_is_told_of() -> None:
    async with running(faulty("dies-listing")) as upstream:
        with pytest.raises(UnreachableError, match="tools/list failed"):
            await upstream.tools()


async def test_a_server_that_wants_credentials_says_so_to_each_caller() -> None:
    with serve_web(any=lambda exchange: exchange.reply(401)) as site:
        async with running(UrlTarget("web", site.url)) as upstream:
            for _ in range(2):
                with pytest.raises(AuthenticationError, match="requires credentials"):
                    await upstream.link()


async def test_a_session_that_was_forgotten_is_opened_anew() -> None:
    def gone(exchange: Exchange) -> None:
        del site.faults["tools_list"]
        exchange.error(404, -32600, "Session not found", "server-error")

    with serve_web(OLD, tools_list=gone) as site:
        async with running(UrlTarget("web", site.url)) as upstream:
            with pytest.raises(UnreachableError, match="tools/list failed"):
                await upstream.tools()
            assert len((await upstream.tools())[0]) == 2
        assert len(site.asked("initialize")) == 2


async def test_a_connection_of_the_new_era_outlives_a_restart_of_the_server(site: Site) -> None:
    async with running(UrlTarget("web", site.url)) as upstream:
        link = await upstream.link()
        assert link.version == MODERN
        site.faults["tools_list"] = Exchange.drop
        with pytest.raises(UnreachableError):
            await upstream.tools()
        assert await upstream.link() is link


@pytest.mark.process
async def test_the_connection_ends_with_the_gateway() -> None:
    async with running(faulty("plain")) as upstream:
        link = await upstream.link()
    assert link.closed.is_set()


@pytest.mark.process
async def test_a_gateway_can_end_while_a_server_is_still_starting() -> None:
    with anyio.fail_after(4):
        async with running(faulty("silent")) as upstream:
            with anyio.move_on_after(0.1):
                await upstream.link()


@pytest.mark.process
async def test_the_error_of_a_server_that_ends_at_once_is_told() -> None:
    async with running(faulty("exits")) as upstream:
        with pytest.raises(ServerExitedError, match="API_KEY"):
            await upstream.link()
