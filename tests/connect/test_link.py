"""One connection: raw JSON both ways, over both transports and in both eras."""

import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
import uvloop
from tests.connect.serving import faulty, real_command, real_url, until, until_there

from sayso.connect import CommandTarget, Fault, RpcError, UrlTarget, process
from sayso.connect.envelope import MODERN
from sayso.connect.link import Link, open_link
from sayso.connect.listing import list_all
from sayso.errors import CommandNotFoundError, ServerExitedError, UnreachableError, UsageError

pytestmark = pytest.mark.anyio

KINDS = ["stdio modern", "stdio old", "http modern", "http old"]


@pytest.fixture(scope="module", params=KINDS)
async def link(request: pytest.FixtureRequest) -> AsyncGenerator[Link]:
    """A connection to a server made with the SDK."""
    is_old = request.param.endswith("old")
    async with contextlib.AsyncExitStack() as stack:
        target: CommandTarget | UrlTarget = real_command(is_old=is_old)
        if request.param.startswith("http"):
            target = await stack.enter_async_context(real_url(is_old=is_old))
        link = await stack.enter_async_context(open_link(target, timeout=30))
        assert link.version == ("2025-11-25" if is_old else MODERN)
        yield link


async def call(link: Link, name: str, arguments: Any = None, **options: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments or {}}
    return await link.request("tools/call", params, timeout=60, **options)


async def test_a_server_made_with_the_sdk_says_who_it_is_and_answers(link: Link) -> None:
    result = await call(link, "get_sum", {"a": 2, "b": 3})

    assert link.greeting.server["name"] == "real"
    assert link.greeting.server["version"] == "7"
    assert link.greeting.instructions == "Be kind."
    assert "tools" in link.greeting.capabilities
    assert result["structuredContent"] == {"result": 5}


async def test_many_calls_at_once_get_each_their_own_answer(link: Link) -> None:
    sums: dict[int, int] = {}

    async def add(number: int) -> None:
        result = await call(link, "get_sum", {"a": number, "b": 1000})
        sums[number] = result["structuredContent"]["result"]

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(add, number)

    assert sums == {number: number + 1000 for number in range(20)}


async def test_a_servers_error_is_raised_as_it_was_sent(link: Link) -> None:
    with pytest.raises(RpcError) as caught:
        await link.request("nothing/there", {}, timeout=60)

    assert caught.value.code == -32601
    assert caught.value.fault is None


async def test_progress_is_told_while_the_call_runs(link: Link) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    result = await call(link, "get_slowly", progress=progress)

    assert result["content"][0]["text"] == "done"
    assert sorted(told) == [(1.0, 2.0, "step 1"), (2.0, 2.0, "step 2")]


async def test_cancelling_a_call_cancels_it_at_the_server(link: Link, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    async with anyio.create_task_group() as group:
        group.start_soon(call, link, "wait", {"journal": str(journal)})
        await until_there(journal, "begun")
        group.cancel_scope.cancel()

    await until_there(journal, "cancelled")
    assert (await call(link, "get_sum", {"a": 1, "b": 1}))["structuredContent"] == {"result": 2}


async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(
    link: Link, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    params = {"name": "wait", "arguments": {"journal": str(journal)}}
    with pytest.raises(RpcError, match="timed out") as caught:
        await link.request("tools/call", params, timeout=0.5)

    assert caught.value.fault is Fault.TIMED_OUT
    await until_there(journal, "cancelled")


async def test_arguments_that_the_schema_marks_reach_a_server_that_checks_them(link: Link) -> None:
    tools = {tool["name"]: tool for tool in await list_all(link, "tools/list", timeout=60)}
    schema = tools["get_region"]["inputSchema"]

    result = await call(link, "get_region", {"region": "é-west"}, input_schema=schema)

    assert not result["isError"]
    assert result["structuredContent"] == {"result": "é-west"}


@pytest.mark.parametrize("mode", ["plain", "modern"])
async def test_results_arrive_raw_with_arrays_and_keys_nobody_knows(mode: str) -> None:
    arguments = {"a": None, "b": [1.5, {"ü": "\u202e"}]}
    async with open_link(faulty(mode), timeout=60) as link:
        echo = await call(link, "get_echo", arguments)
        array = await call(link, "get_array")

    assert echo["structuredContent"] == arguments
    assert "x-unknown" in echo
    assert array["structuredContent"] == [1, None, "é"]


async def test_a_server_says_that_its_tools_have_changed() -> None:
    told: list[tuple[str, Mapping[str, Any]]] = []
    arrived = anyio.Event()

    async def notified(method: str, params: Mapping[str, Any]) -> None:
        told.append((method, params))
        arrived.set()

    async with open_link(faulty("plain"), timeout=60, notified=notified) as link:
        await call(link, "add_change")
        with anyio.fail_after(30):
            await arrived.wait()
        tools = await list_all(link, "tools/list", timeout=60)

    assert told == [("notifications/tools/list_changed", {})]
    assert tools[-1]["name"] == "get_new"


async def test_a_server_may_ask_whether_sayso_is_there_and_nothing_else() -> None:
    async with open_link(faulty("curious"), timeout=60) as link:
        answers = (await call(link, "get_echo"))["structuredContent"]

    assert answers["ping"]["result"] == {}
    assert answers["sampling/createMessage"]["error"] == {
        "code": -32601,
        "message": "sayso does not offer sampling/createMessage",
    }


async def test_a_servers_own_error_with_the_code_of_a_lost_connection_is_its_own() -> None:
    async with open_link(faulty("plain"), timeout=60) as link:
        with pytest.raises(RpcError, match="out of paper") as caught:
            await call(link, "get_refused")
        assert (await call(link, "get_array"))["structuredContent"]

    assert (caught.value.code, caught.value.data) == (-32000, {"tray": 2})
    assert not caught.value.may_have_run


async def test_a_server_that_dies_during_a_call_may_have_run_it(tmp_path: Path) -> None:
    async with open_link(faulty("plain"), timeout=60) as link:
        with pytest.raises(RpcError) as caught:
            await call(link, "add_crash", {"log": str(tmp_path / "log")})
        assert caught.value.fault is Fault.LOST
        with anyio.fail_after(30):
            await link.closed.wait()
        with pytest.raises(RpcError) as caught:
            await call(link, "get_array")
        assert caught.value.fault is Fault.LOST


async def test_cancelling_over_stdio_tells_an_old_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with open_link(faulty("plain"), timeout=60) as link:
        async with anyio.create_task_group() as group:
            group.start_soon(call, link, "add_hang", {"log": str(log)})
            await until_there(log, "hang")
            group.cancel_scope.cancel()
        await until_there(log, "cancelled")


def is_alive(pid: int) -> bool:
    """Return whether a process runs, and is not just a zombie."""
    status = Path(f"/proc/{pid}/stat")
    if status.exists():
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc/self").exists()


@pytest.mark.parametrize("way", ["left", "failed", "cancelled"])
async def test_the_children_of_a_server_end_with_it(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server itself ends as soon as its stdin does, and leaves its child behind."""
    # Where nobody collects orphans that have ended, the whole time is waited.
    monkeypatch.setattr(process, "_GRACE_SECONDS", 0.1)
    child = 0
    with anyio.CancelScope() as scope, contextlib.suppress(UsageError):
        async with open_link(faulty("plain"), timeout=60) as link:
            result = await call(link, "start_child")
            child = json.loads(result["content"][0]["text"])
            assert is_alive(child)
            await leave(way, scope)
    try:
        await until(lambda: not is_alive(child))
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        raise


async def leave(way: str, scope: anyio.CancelScope) -> None:
    if way == "failed":
        raise UsageError(way)
    if way == "cancelled":
        scope.cancel()
        await anyio.sleep(60)


async def test_what_fails_while_connected_is_raised_as_it_is() -> None:
    with pytest.raises(UsageError, match="mine"):
        async with open_link(faulty("plain"), timeout=60):
            raise UsageError("mine")


async def test_a_command_that_is_not_there_is_named() -> None:
    target = CommandTarget("x", "no-such-command-anywhere")
    with pytest.raises(CommandNotFoundError, match="“no-such-command-anywhere” was not found"):
        async with open_link(target, timeout=60):
            raise AssertionError


async def test_a_folder_to_run_in_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    target = CommandTarget("x", faulty("plain").command, cwd=missing)
    with pytest.raises(CommandNotFoundError, match=f"the folder {missing} does not exist"):
        async with open_link(target, timeout=60):
            raise AssertionError


async def test_what_is_missing_is_named_in_the_loop_of_the_gateway_too(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")

    async def why(target: CommandTarget) -> str:
        with pytest.raises(CommandNotFoundError) as caught:
            async with open_link(target, timeout=60):
                raise AssertionError
        return str(caught.value)

    async def both() -> tuple[str, str]:
        there = faulty("plain").command
        return await why(CommandTarget("x", "no-such-command-anywhere")), await why(
            CommandTarget("x", there, cwd=missing)
        )

    command, folder = await anyio.to_thread.run_sync(uvloop.run, both())

    assert "“no-such-command-anywhere” was not found" in command
    assert f"the folder {missing} does not exist" in folder


async def test_a_file_that_is_no_program_is_told(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text")
    with pytest.raises(CommandNotFoundError, match="the command cannot be run"):
        async with open_link(CommandTarget("x", str(tmp_path / "text")), timeout=60):
            raise AssertionError


async def test_a_program_with_arguments_that_no_process_can_take_is_told() -> None:
    with pytest.raises(CommandNotFoundError, match="cannot be run"):
        async with open_link(CommandTarget("x", "sh", ("a\0b",)), timeout=60):
            raise AssertionError


async def test_a_host_name_that_cannot_be_one_is_told() -> None:
    with pytest.raises(UnreachableError, match="cannot be a host's name"):
        async with open_link(UrlTarget("x", "http://ü..example/mcp"), timeout=60):
            raise AssertionError


async def test_the_last_words_of_a_server_that_ends_are_told_without_its_secrets() -> None:
    with pytest.raises(ServerExitedError) as caught:
        async with open_link(faulty("exits"), timeout=60):
            raise AssertionError
    assert "The variable API_KEY=••• is refused." in caught.value.what
    assert "sk-0123456789" not in str(caught.value)


STRAY = """
import json, sys
ABOUT = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
for line in sys.stdin:
    asked = json.loads(line)
    number = asked["id"]
    if asked["method"] == "server/discover":
        told = [{"id": number, "result": ABOUT}]
    else:
        step = {"method": "notifications/progress"}
        done = {"progress": 1, "progressToken": number}
        told = [
            {"id": number + 1000, "result": {"whose": "nobody's"}},
            {"id": str(number), "result": {"whose": "nobody's"}},
            {"id": True, "result": {"whose": "nobody's"}},
            {**step, "params": [1]},
            {**step, "params": {**done, "progressToken": "other"}},
            {**step, "params": done},
            {"id": number, "result": {"whose": "mine"}},
            {"id": number, "result": {"whose": "twice"}},
        ]
    for one in told:
        print(json.dumps({"jsonrpc": "2.0", **one}), flush=True)
"""


async def test_a_process_that_answers_what_nobody_asked_answers_no_other_request() -> None:
    told: list[float] = []

    async def progress(done: float, *_: Any) -> None:
        told.append(done)

    target = CommandTarget("stray", sys.executable, ("-c", STRAY))
    async with open_link(target, timeout=60) as link:
        for _ in range(3):
            assert await call(link, "add_note", progress=progress) == {"whose": "mine"}
    assert told == [1, 1, 1]
