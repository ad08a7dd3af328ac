"""Faults around a toolset: servers, people, and cancelled calls."""

import asyncio
import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ToolAnnotations
from tests.agents.office import Office, allow, call, converse, deny, pending, script, toolset
from tests.agents.serving import events, faulty, process
from tests.connect.serving import SERVERS, until

import sayso
from sayso.agents import ApprovalQueue, ToolCall, ToolResult
from sayso.errors import StoreError
from sayso.policy import load_policy

pytestmark = pytest.mark.anyio

READ = ToolAnnotations(read_only_hint=True, open_world_hint=False)
DESTROY = ToolAnnotations(read_only_hint=False, destructive_hint=True)


def changing(log: list[str]) -> MCPServer[Any]:
    """A server whose tool `tools_change` takes one away, brings one, and makes one destroy."""
    server: MCPServer[Any] = MCPServer("changing", log_level="ERROR")

    def old_read() -> str:
        """Read what is old."""
        return "old"

    def new_read() -> str:
        """Read what is new."""
        return "new"

    def thing_check() -> str:
        """Check a thing."""
        log.append("checked")
        return "checked"

    async def tools_change(ctx: Context) -> str:
        """Get the state of the tools."""
        server.remove_tool("old_read")
        server.remove_tool("thing_check")
        server.add_tool(new_read, annotations=READ)
        server.add_tool(thing_check, annotations=DESTROY)
        await ctx.session.send_tool_list_changed()
        return "changed"

    for tool in (old_read, thing_check, tools_change):
        server.add_tool(tool, annotations=READ)
    return server


async def test_a_list_that_changes_in_a_run_holds_from_the_next_call_on(url: str) -> None:
    log: list[str] = []
    model = script(
        [ToolCall("1", "tools_change")],
        [ToolCall("2", "old_read"), ToolCall("3", "new_read"), ToolCall("4", "thing_check")],
        "Well.",
    )
    async with (
        Client(changing(log), mode="legacy") as client,
        sayso.wrap(client, approver=deny, audit=url) as guarded,
    ):
        results = await converse(model, sayso.Toolset(guarded))
    assert [names for _, names in model.heard] == [
        ["old_read", "thing_check", "tools_change"],
        ["tools_change", "new_read", "thing_check"],
        ["tools_change", "new_read", "thing_check"],
    ]
    told = {one.id: one.text for one in results}
    assert "there is no tool “old_read” here" in told["2"]
    assert told["3"] == "new"
    assert "denied" in told["4"]
    assert log == []


async def test_a_step_that_was_made_before_the_list_changed_runs_nothing_unasked(url: str) -> None:
    log: list[str] = []
    async with (
        Client(changing(log), mode="legacy") as client,
        sayso.wrap(client, approver=deny, audit=url) as guarded,
    ):
        step = await sayso.Toolset(guarded).step()
        await step.call(ToolCall("1", "tools_change"))
        gone, worse = await step.run([ToolCall("2", "old_read"), ToolCall("3", "thing_check")])
    assert "there is no tool “old_read” here" in gone.text
    assert "Did you mean old_read" not in gone.text
    assert "denied" in worse.text
    assert log == []


async def test_three_of_fifty_calls_wait_and_hold_nobody_up(url: str) -> None:
    office = Office()
    kinds = ("note_read", "note_set", "note_add")
    calls = [call(kinds[number % 3], number) for number in range(47)]
    for place, number in ((5, 101), (20, 102), (35, 103)):
        calls.insert(place, call("note_drop", number))
    queue = ApprovalQueue()
    results: list[ToolResult] = []
    async with toolset(office, url, wrapped={"approver": queue}) as tools:
        step = await tools.step()

        async def run() -> None:
            results.extend(await step.run(calls))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            asked = [await queue.take() for _ in range(3)]
            await until(lambda: len(office.done) == 47)
            assert len(await pending(url)) == 3
            by_number = {one.approval.question.arguments["number"]: one for one in asked}
            for number in (103, 101, 102):
                assert await by_number[number].allow()
                await until(lambda: ("note_drop", number) in office.done)  # noqa: B023 - waited for
    assert [one.id for one in results] == [one.id for one in calls]
    assert not any(one.is_error for one in results)
    added = [number for name, number in office.done if name == "note_add"]
    assert added == sorted(added)
    assert office.done[-3:] == [("note_drop", number) for number in (103, 101, 102)]
    writes = [entry for entry in office.log if entry[1] in {"note_add", "note_drop"}]
    for begin, end in zip(writes[::2], writes[1::2], strict=True):
        assert (begin[0], end[0], begin[1:]) == ("begin", "end", end[1:])


async def test_reads_run_side_by_side_while_writes_wait_for_each_other(url: str) -> None:
    office = Office(doors={number: anyio.Event() for number in range(6)})
    calls = [call("note_add", 0), call("note_read", 1), call("note_add", 2), call("note_set", 3)]
    async with toolset(office, url) as tools, anyio.create_task_group() as group:
        group.start_soon((await tools.step()).run, calls)
        await until(lambda: len(office.log) == 3)
        assert {entry[2] for entry in office.log} == {0, 1, 3}
        for number in (1, 3, 0, 2):
            office.doors[number].set()
            await until(lambda: ("end", number) in {(one, two) for one, _, two in office.log})  # noqa: B023 - waited for
    assert [number for _, number in office.done] == [1, 3, 0, 2]


def fail(_: sayso.Approval) -> bool:
    """Break."""
    raise ZeroDivisionError


def ignore(_: sayso.Approval) -> None:
    """Say nothing."""


@pytest.mark.parametrize("approver", [fail, ApprovalQueue(), ignore])
async def test_whoever_never_answers_holds_up_no_step(approver: Any, url: str) -> None:
    office = Office()
    model = script([call("note_drop"), call("note_read")], "Well.")
    async with toolset(office, url, wrapped={"approver": approver, "patience": 0.2}) as tools:
        results = await converse(model, tools)
        assert "Not run yet" in results[0].text
        assert office.done == [("note_read", 1)]
        # The question stands: a person may still answer, and the call be made again.
        assert len(await pending(url)) == 1
        await tools.withdraw()
    assert await pending(url) == []


async def test_a_call_that_waits_in_vain_again_and_again_asks_one_question(url: str) -> None:
    again = [[ToolCall(str(place), "note_drop", {"number": 1})] for place in range(4)]
    wrapped = {"approver": ignore, "patience": 0.05}
    async with toolset(Office(), url, wrapped=wrapped) as tools:
        results = await converse(script(*again), tools)
    assert len(results) == 4
    assert len(await pending(url)) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("number=1", "not JSON"),
        ("[1]", "a JSON object"),
        ('"1"', "a JSON object"),
        ("null", "a JSON object"),
        ('{"number": NaN}', "NaN is not JSON"),
        ('{"number": 1e999}', "too large"),
        ('{"number": 1, "number": 2}', "duplicate key"),
        ('{"number": ' + "9" * 5000 + "}", "too many digits"),
        ('{"a":' * 300 + "1" + "}" * 300, "nested"),
        ('{"a":' * 100_000, "nested"),
        ('{"number": 1, "\\ud800": 1}', "surrogate"),
        ({"number": float("nan")}, "Nothing was run"),
        ({"number": object()}, "Nothing was run"),
        ('{"number": "' + "9" * 5_000_000 + '"}', "Nothing was run"),
        ('{"number": 1} {"number": 2}', "not JSON"),
        ("", "number"),
        (None, "number"),
    ],
)
async def test_arguments_that_cannot_be_are_words_for_the_model(
    arguments: Any, told: str, url: str
) -> None:
    office = Office()
    model = script([ToolCall("a", "note_add", arguments)], "Oh.")
    async with toolset(office, url) as tools:
        (result,) = await converse(model, tools)
    assert result.is_error
    assert told in result.text
    assert len(result.text) < 3000
    json.dumps(result.answer).encode()
    result.text.encode()
    assert office.log == []


@pytest.mark.parametrize("name", ["note_drop", "nothing", "", "note\ud800", "x" * 10_000])
async def test_hidden_and_unknown_tools_get_the_same_words(name: str, url: str) -> None:
    policy = load_policy(
        '[[rules]]\nname = "no"\neffect = "hide"\nwhen = { server = "office", tool = "note_drop" }'
    )
    office = Office()
    model = script([ToolCall("a", name, {"number": 1})], "Oh.")
    async with toolset(office, url, wrapped={"policy": policy, "server": "office"}) as tools:
        (result,) = await converse(model, tools)
    assert "note_drop" not in model.heard[0][1]
    assert "note_drop" not in model.heard[0][0]
    assert result.text.startswith("Nothing was run: there is no tool “")
    assert result.text.partition("”")[2].startswith(" here.")
    assert "mean note_drop" not in result.text
    result.text.encode()
    assert office.log == []


async def test_the_same_denied_call_in_other_spellings_is_the_same(url: str) -> None:
    spellings = ['{"number": 1}', '{"number":1.0}', {"number": 1}, '{ "number" : 1 }']
    again = [[ToolCall(str(place), "note_drop", one)] for place, one in enumerate(spellings)]
    asked: list[str] = []

    def ask(approval: sayso.Approval) -> bool:
        asked.append(repr(approval.question.arguments["number"]))
        return False

    async with toolset(Office(), url, wrapped={"approver": ask}) as tools:
        results = await converse(script(*again), tools)
    assert all(one.is_error for one in results)
    # An answer for `1` does not serve `1.0`, so that is asked about.
    assert asked == ["1", "1.0"]


async def test_however_early_or_late_a_run_is_cancelled_no_question_stays(url: str) -> None:
    office = Office()
    async with toolset(office, url, wrapped={"approver": ApprovalQueue()}) as tools:
        for rests in range(60):
            calls = [call("note_drop", 100 + rests), call("note_drop", 200 + rests)]
            async with anyio.create_task_group() as group:
                group.start_soon(converse, script(calls, "Well."), tools)
                for _ in range(rests):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
            assert await pending(url) == [], f"cancelled after {rests} rests"
    assert office.log == []


@pytest.mark.parametrize("delay", [0.001, 0.003, 0.006, 0.01, 0.02, 0.05])
async def test_whenever_a_deferred_run_is_cancelled_no_question_stays(
    delay: float, url: str
) -> None:
    async with toolset(Office(), url, wrapped={"approver": "deferred"}) as tools:
        for number in range(10):
            calls = [call("note_drop", number), call("note_drop", 100 + number)]
            with anyio.move_on_after(delay):
                step = await tools.step()
                await step.run(calls)
                await anyio.sleep_forever()
            await tools.withdraw()
            assert await pending(url) == []


async def test_calls_that_are_cancelled_while_they_queue_ask_nothing_and_run_nothing(
    url: str,
) -> None:
    office = Office(doors={1: anyio.Event()})
    calls = [call("note_add", 1), *(call("note_drop", number) for number in range(2, 6))]
    async with toolset(office, url, wrapped={"approver": allow}) as tools:
        step = await tools.step()
        async with anyio.create_task_group() as group:
            group.start_soon(step.run, calls)
            await until(lambda: office.log == [("begin", "note_add", 1)])
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
        assert await pending(url) == []
        # The line is free again.
        (added,) = await step.run([call("note_add", 9)])
        assert added.text == "note_add 9 is done"
    assert office.done == [("note_add", 9)]
    assert [one for one in await events(url) if one[0] == "asked"] == []


async def test_a_store_that_fails_is_one_error_and_each_call_has_a_result(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = script([call("note_read"), ToolCall("x", "nothing")], "Well.")
    async with toolset(Office(), url) as tools:
        guard = tools.servers[0].guard

        async def refused(*_: Any, **__: Any) -> None:
            raise StoreError("the disk is full")

        monkeypatch.setattr(type(guard.audit), "refused", refused)
        with pytest.raises(StoreError, match="the disk is full"):
            await (await tools.step()).run([call("note_read"), ToolCall("y", "note_read", {})])
        assert len(await converse(model, tools)) == 2


async def test_a_run_that_asyncio_itself_cancels_leaves_no_question_either(url: str) -> None:
    async with toolset(Office(), url, wrapped={"approver": ApprovalQueue()}) as tools:
        for rests in range(60):
            model = script([call("note_drop", rests), call("note_add", rests)])
            running = asyncio.create_task(converse(model, tools))
            for _ in range(rests):
                await asyncio.sleep(0)
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            assert await pending(url) == [], f"cancelled after {rests} rests"


@pytest.mark.process
async def test_a_server_that_dies_in_a_run_is_words_for_the_model(tmp_path: Path, url: str) -> None:
    script_file = tmp_path / "server.py"
    shutil.copy(SERVERS / "faulty.py", script_file)
    async with (
        Client(process(str(script_file), "plain"), mode="legacy") as client,
        sayso.wrap(client, approver=allow, audit=url) as guarded,
    ):
        script_file.unlink()  # the process cannot be started again
        model = script([ToolCall("1", "add_crash")], [ToolCall("2", "add_crash")], "Oh.")
        first, second = await converse(model, sayso.Toolset(guarded))
    assert "may have run or not" in first.text
    assert "Nothing was run" in second.text


@pytest.mark.process
async def test_a_server_that_dies_in_a_run_serves_the_next_call_from_a_new_process(
    tmp_path: Path, url: str
) -> None:
    log = tmp_path / "log"
    async with (
        Client(faulty(), mode="legacy") as client,
        sayso.wrap(client, approver=allow, audit=url) as guarded,
    ):
        calls = [ToolCall(str(number), "add_crash", {"log": str(log)}) for number in (1, 2)]
        model = script(calls[:1], calls[1:], "Oh.")
        results = await converse(model, sayso.Toolset(guarded))
    assert all("may have run or not" in one.text for one in results)
    assert log.read_text() == "crash\n" * 2


async def test_the_words_of_a_person_who_says_no_reach_the_model(url: str) -> None:
    queue = ApprovalQueue()
    office = Office()
    results: list[ToolResult] = []
    async with toolset(office, url, wrapped={"approver": queue}) as tools:

        async def run() -> None:
            results.extend(await converse(script([call("note_drop")]), tools))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await (await queue.take()).deny("we need that one")
    assert "we need that one" in results[0].text
    assert office.log == []


async def test_cancelled_calls_that_ran_in_part_are_on_record(url: str) -> None:
    office = Office(doors={7: anyio.Event()})
    calls = [call("note_drop", 1), call("note_read", 2), call("note_add", 7), call("note_add", 8)]
    async with toolset(office, url, wrapped={"approver": ApprovalQueue()}) as tools:
        async with anyio.create_task_group() as group:
            group.start_soon(converse, script(calls), tools)
            await until(lambda: ("begin", "note_add", 7) in office.log)
            while not await pending(url):
                await anyio.sleep(0.005)
            group.cancel_scope.cancel()
        assert await pending(url) == []
    assert office.done == [("note_read", 2)]
    assert ("outcome", "outcome_unknown") in await events(url)
