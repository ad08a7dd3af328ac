"""Servers per principal: their processes, their number, and their end."""

import json
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.connect.serving import faulty, until
from tests.gateway.test_upstream import counting, holding, starts

from sayso.connect import UrlTarget
from sayso.connect.kinds import AuthKind, UpstreamAuth
from sayso.errors import TimedOutError, UnreachableError
from sayso.gateway import connection as connection_module
from sayso.gateway import upstream as upstream_module
from sayso.gateway.backoff import pause_after
from sayso.gateway.connection import ServerConnection
from sayso.gateway.health import State
from sayso.gateway.upstream import Upstream
from sayso.gateway.upstreams import Upstreams
from sayso.keys import Reference
from sayso.policy import LOCAL, Principal

pytestmark = pytest.mark.anyio

AMY, BO, CY = Principal("amy"), Principal("bo"), Principal("cy")


async def child_of(connection: ServerConnection) -> int:
    """Have the server start a child, and say which."""
    link = await connection.link()
    answer = await link.request("tools/call", {"name": "start_child"}, timeout=60)
    return json.loads(answer["content"][0]["text"])


def has_failed(connection: ServerConnection, times: int) -> bool:
    return connection.health.failed == times


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


async def test_each_principal_has_a_process_of_its_own(tmp_path: Path) -> None:
    async with holding(counting("plain", tmp_path)) as upstream:
        for one in (AMY, BO, AMY, Principal("amy", client="other")):
            await upstream.of(one).link()
        assert starts(tmp_path) == 2
        assert await upstream.of(AMY).link() is not await upstream.of(BO).link()
        # The same list is the same tools, however many have it.
        mine, theirs = [(await upstream.of(one).tools())[0] for one in (AMY, BO)]
        assert all(one is other for one, other in zip(mine, theirs, strict=True))


async def test_one_word_makes_it_one_process_for_all(tmp_path: Path) -> None:
    target = counting("plain", tmp_path)
    shared = type(target)(target.name, target.command, target.args, is_shared=True)
    async with holding(shared) as upstream:
        assert await upstream.of(AMY).link() is await upstream.of(BO).link()
    assert starts(tmp_path) == 1


async def test_who_uses_it_no_more_loses_it_with_all_its_children_but_the_last_one_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(upstream_module, "_SWEEP_SECONDS", 0.02)
    async with holding(faulty("plain")) as upstream:
        amy, bo = upstream.of(AMY), upstream.of(BO)
        children = [await child_of(amy), await child_of(bo)]
        assert all(is_running(one) for one in children)
        monkeypatch.setattr(upstream_module, "_IDLE_SECONDS", 0.05)
        await until(lambda: upstream.health().connections == 1)
        await until(lambda: sum(is_running(one) for one in children) == 1)
        await anyio.lowlevel.checkpoint()
        assert upstream.health().connections == 1
        assert {amy.is_connected, bo.is_connected} == {True, False}
        gone = AMY if not amy.is_connected else BO
        assert upstream.of(gone) is not (amy if gone is AMY else bo)
        monkeypatch.setattr(upstream_module, "_IDLE_SECONDS", 900)
        assert await child_of(upstream.of(gone))
    await until(lambda: not any(is_running(one) for one in children))


async def test_what_is_at_work_is_not_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(upstream_module, "_SWEEP_SECONDS", 0.02)
    monkeypatch.setattr(upstream_module, "_IDLE_SECONDS", 0.0)
    async with holding(faulty("plain")) as upstream:
        amy = upstream.of(AMY)
        link = await amy.link()
        params = {"name": "add_hang", "arguments": {"log": str(tmp_path / "log")}}
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: link.request("tools/call", params, timeout=20))
            await until((tmp_path / "log").exists)
            bo = upstream.of(BO)
            await bo.link()
            await until(lambda: not bo.is_connected)
            assert amy.is_connected
            group.cancel_scope.cancel()


async def test_there_are_so_many_and_no_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(upstream_module, "_MAX_PROCESSES", 2)
    async with holding(counting("plain", tmp_path)) as upstream:
        amy, bo = upstream.of(AMY), upstream.of(BO)
        await amy.link()
        await bo.link()
        with pytest.raises(UnreachableError, match="all 2 connections to the server are in use"):
            upstream.of(CY)
        monkeypatch.setattr(upstream_module, "_MIN_IDLE_SECONDS", 0.0)
        await upstream.of(CY).link()
        await until(lambda: not amy.is_connected)
        assert bo.is_connected
        assert upstream.health().connections == 2
    assert starts(tmp_path) == 3


async def test_a_token_that_was_had_for_more_scopes_serves_nobody_with_fewer() -> None:
    auth = UpstreamAuth(AuthKind.TOKEN_EXCHANGE, "https://a/t", "sayso", Reference("env", "SECRET"))
    upstream = Upstream(UrlTarget("web", "https://a/mcp", auth=auth), timeout=60)
    wide, narrow = (Principal("amy", scopes=frozenset(one)) for one in ("ab", "a"))
    assert upstream.of(wide) is upstream.of(wide)
    assert upstream.of(wide) is not upstream.of(narrow)


def test_the_pause_grows_to_a_bound_and_is_not_the_same_everywhere() -> None:
    assert pause_after(0) == 0.0
    for failures, longest in [(1, 1), (2, 2), (5, 16), (7, 60), (10_000, 60)]:
        pauses = {pause_after(failures) for _ in range(50)}
        assert len(pauses) > 1
        assert all(longest / 2 <= one <= longest for one in pauses)


async def test_a_server_that_ends_again_and_again_is_started_more_and_more_seldom(
    tmp_path: Path,
) -> None:
    async with holding(counting("plain", tmp_path)) as upstream:
        amy = upstream.of(AMY)
        for count in (1, 2):
            link = await amy.link()
            assert starts(tmp_path) == count
            link.closed.set()
            await until(partial(has_failed, amy, count))
        for _ in range(5):
            with pytest.raises(UnreachableError, match="has ended again"):
                await amy.link()
        assert starts(tmp_path) == 2


async def test_one_that_held_begins_from_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(connection_module, "_HELD_SECONDS", 0.0)
    async with holding(counting("plain", tmp_path)) as upstream:
        amy = upstream.of(AMY)
        for count in range(1, 5):
            link = await amy.link()
            link.closed.set()
            await until(partial(has_failed, amy, count))
        assert starts(tmp_path) == 4


async def test_how_a_server_fares_is_told(tmp_path: Path) -> None:
    async with holding(counting("garbage-exits", tmp_path)) as upstream:
        assert upstream.health().worst.state is State.UNTRIED
        with pytest.raises(UnreachableError):
            await upstream.of(AMY).link()
        told = upstream.health()
        assert (told.is_failing, told.connections, told.failed) == (True, 0, 1)
        assert "Welcome" in told.to_dict(has_reasons=True)["why"]
        assert "why" not in told.to_dict()
    async with holding(faulty("modern")) as upstream:
        await upstream.of(Principal(LOCAL)).link()
        told = upstream.health()
        assert (told.is_failing, told.connections, told.opened) == (False, 1, 1)
        assert told.to_dict()["version"] == "2026-07-28"
        assert told.to_dict()["state"] == "up"
        assert [one.to_dict() for one in Upstreams([upstream], 5).health()] == [told.to_dict()]


async def test_a_server_that_does_not_list_holds_up_the_others_for_a_moment_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_module, "_PATIENCE_SECONDS", 2.0)
    monkeypatch.setattr(connection_module, "_SLOW_SECONDS", 0.05)
    async with holding(faulty("plain", "s")) as sound, holding(faulty("slow-listing", "m")) as mute:
        await sound.of(AMY).tools()
        reach = Upstreams([sound, mute], 5).of(AMY)
        first = await reach.catalog()
        with anyio.fail_after(1.5):
            again = await reach.catalog()
        for found in (first, again):
            assert "s__get_echo" in found.tools
            (problem,) = found.problems
            assert problem.startswith("m: no answer to tools/list within ")
        assert mute.of(AMY).is_slow
        with pytest.raises(TimedOutError):
            await mute.of(AMY).listed()


async def test_too_many_for_one_server_leave_the_lists_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(upstream_module, "_MAX_PROCESSES", 0)
    async with holding(faulty("plain", "s")) as full:
        found = await Upstreams([full], 5).of(AMY).catalog()
        assert not found.tools
        assert "are in use" in found.problems[0]
        assert await Upstreams([full], 5).of(AMY).collect("prompts/list") == []
