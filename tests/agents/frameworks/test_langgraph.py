"""Graphs of LangGraph with plain tool nodes behind the guard, with real servers."""

import asyncio
from typing import TYPE_CHECKING

import anyio
import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from mcp import Client
from tests.agents.frameworks.chains import (
    THREAD,
    Shelf,
    asked,
    calls,
    graph,
    said,
    shelved,
    studio,
    told,
    until,
)
from tests.agents.office import Office, call, toolset

import sayso
from sayso.agents.langgraph import reply, tools_of
from sayso.demo.customers import customer_numbers
from sayso.demo.data import Database
from sayso.demo.server import build_server
from sayso.errors import UsageError

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

pytestmark = pytest.mark.anyio

GONE = "customer_delete"
GET = "customers_get"


@pytest.fixture(autouse=True)
def _untraced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")


async def test_tools_come_with_names_schema_and_level(database: Database, url: str) -> None:
    async with studio(database, url) as toolset:
        tools = {one.name: one for one in await tools_of(toolset)}
        get, gone = tools[GET], tools[GONE]
        assert (get.metadata or {})["sayso"]["level"] == "read"
        about = (gone.metadata or {})["sayso"]
        assert (about["level"], about["server"]) == ("destructive", "crm")
        assert about["hints"]["destructive"] is True
        schemas = {name: tool.schema for name, tool in (await toolset.tools()).items()}
        for name, tool in tools.items():
            shown = convert_to_openai_tool(tool)["function"]
            assert (shown["name"], shown["description"]) == (name, tool.description)
            assert shown["parameters"]["properties"].keys() == schemas[name]["properties"].keys()
        assert '"customerId"' in await get.ainvoke({"customer_id": 12})
        with pytest.raises(UsageError, match="asynchronously only"):
            get.invoke({"customer_id": 12})


async def test_in_a_plain_tool_node_nothing_runs_twice_and_each_answer_serves_its_own_question(
    url: str,
) -> None:
    shelf = Shelf()
    script = calls(
        ("look", {"item": "a"}),
        ("put", {"item": "b"}),
        ("drop", {"item": "c"}),
        ("drop", {"item": "d"}),
        ("drop", {"item": "e"}),
    )
    async with shelved(shelf, url, approver="deferred") as toolset:
        run = graph(await tools_of(toolset), script, InMemorySaver())
        state = await run.ainvoke(said("tidy up"), THREAD)
        seen: list[int] = []
        while "__interrupt__" in state:
            (question,) = asked(state)
            seen.append(question["number"])
            allowed = question["arguments"]["item"] != "d"
            state = await run.ainvoke(Command(resume=reply(question, is_allowed=allowed)), THREAD)
    assert sorted(shelf.done) == ["drop c", "drop e", "look a", "put b"]
    assert [one.status for one in told(state)] == [
        "success",
        "success",
        "success",
        "error",
        "success",
    ]
    assert told(state)[0].content == "a is there"
    assert len(seen) == len(set(seen)) == 3


async def test_an_answer_that_comes_to_a_neighbour_first_is_not_lost(url: str) -> None:
    """The second question is shown first: its answer is the first that the node is handed."""
    shelf = Shelf()
    script = calls(("drop", {"item": "a"}), ("drop", {"item": "b"}))
    async with shelved(shelf, url, approver="deferred") as toolset:
        tools = await tools_of(toolset)
        run = graph(tools, script, InMemorySaver())
        state = await run.ainvoke(said("drop both"), THREAD)
        (shown,) = asked(state)
        other = {"server": "shelf", "number": 3 - shown["number"]}
        state = await run.ainvoke(Command(resume=reply(other, is_allowed=False)), THREAD)
        (again,) = asked(state)
        assert again["number"] == shown["number"]
        end = await run.ainvoke(Command(resume=reply(again, is_allowed=True)), THREAD)
    denied, dropped = sorted(told(end), key=lambda one: one.status)
    assert "A person denied this call" in str(denied.content)
    assert dropped.status == "success"
    assert shelf.done == [f"drop {shown['arguments']['item']}"]


async def test_a_call_that_still_runs_when_its_node_runs_again_is_waited_for(url: str) -> None:
    shelf = Shelf()
    script = calls(("look", {"item": "a", "together": 2}), ("drop", {"item": "b"}))
    async with shelved(shelf, url, approver="deferred") as toolset:
        run = graph(await tools_of(toolset), script, InMemorySaver())
        (question,) = asked(await run.ainvoke(said("tidy up"), THREAD))
        with anyio.fail_after(60):
            await until(lambda: shelf.looking == 1)
        yes = Command(resume=reply(question, is_allowed=True))
        with anyio.fail_after(60):
            again = asyncio.create_task(run.ainvoke(yes, THREAD))
            await until(lambda: shelf.done == ["drop b"])
            shelf.all_look.set()
            end = await again
    assert [str(one.content) for one in told(end)] == ["a is there", "dropped b"]
    assert shelf.looking == 1


async def test_a_call_that_is_made_after_a_cancelled_one_waits_for_its_turn(url: str) -> None:
    office, door = Office(), anyio.Event()
    office.doors[1] = door
    again = {"name": "note_add", "args": {"number": 2}, "id": "a", "type": "tool_call"}
    place: RunnableConfig = {"configurable": {"thread_id": "1", "checkpoint_ns": "tools:1"}}
    async with toolset(office, url) as tools:
        (add,) = [one for one in await tools_of(tools) if one.name == "note_add"]
        before = asyncio.create_task(tools.call(call("note_add", 1)))
        with anyio.fail_after(60):
            await until(lambda: office.most == 1)
        first, second = (asyncio.create_task(add.ainvoke(again, place)) for _ in range(2))
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        first.cancel()
        with anyio.move_on_after(0.5):
            await until(lambda: office.most == 2)
        door.set()
        with anyio.fail_after(60):
            await asyncio.gather(before, second)
    assert office.most == 1
    assert office.done == [("note_add", 1), ("note_add", 2)]


async def test_a_plain_graph_goes_on_in_another_process(url: str) -> None:
    shelf, saver = Shelf(), InMemorySaver()
    script = calls(("put", {"item": "a"}), ("drop", {"item": "b"}))
    async with shelved(shelf, url, approver="deferred") as toolset:
        run = graph(await tools_of(toolset), script, saver)
        (question,) = asked(await run.ainvoke(said("tidy up"), THREAD))
    async with shelved(shelf, url, approver="deferred") as toolset:
        run = graph(await tools_of(toolset), script, saver)
        end = await run.ainvoke(Command(resume=reply(question, is_allowed=True)), THREAD)
    assert [str(one.content) for one in told(end)] == ["put a", "dropped b"]
    assert shelf.done == ["put a", "drop b"]


async def test_the_same_call_in_another_thread_is_another_call(url: str) -> None:
    shelf = Shelf()
    script = calls(("put", {"item": "a"}))
    async with shelved(shelf, url) as toolset:
        run = graph(await tools_of(toolset), script, InMemorySaver())
        for thread in ("1", "2"):
            await run.ainvoke(said("put it"), {"configurable": {"thread_id": thread}})
        await run.ainvoke(said("and again"), THREAD)
    assert shelf.done == ["put a"] * 3


async def test_outside_of_a_graph_a_call_that_asks_says_so_in_words(url: str) -> None:
    shelf = Shelf()
    async with shelved(shelf, url, approver="deferred") as toolset:
        (drop,) = [one for one in await tools_of(toolset) if one.name == "drop"]
        assert "Not run yet" in await drop.ainvoke({"item": "a"})
        await toolset.withdraw()
    assert shelf.done == []


async def test_the_tools_of_two_servers_have_their_servers_name(
    database: Database, url: str
) -> None:
    shelf = Shelf()
    async with (
        Client(build_server(database)) as one,
        Client(shelf.server) as two,
        sayso.wrap(one, server="crm", audit=url, approver="deferred") as crm,
        sayso.wrap(two, server="shelf", audit=f"{url}.other", approver="deferred") as other,
    ):
        toolset = sayso.Toolset(crm, other)
        names = {tool.tool.name: name for name, tool in (await toolset.tools()).items()}
        gone, drop = (names[GONE], {"customer_id": 12}), (names["drop"], {"item": "a"})
        run = graph(await tools_of(toolset), calls(gone, drop), InMemorySaver())
        (first,) = asked(await run.ainvoke(said("both"), THREAD))
        no = Command(resume=reply(first, is_allowed=False))
        (second,) = asked(await run.ainvoke(no, THREAD))
        assert {first["server"], second["server"]} == {"crm", "shelf"}
        assert first["number"] == second["number"] == 1
        await run.ainvoke(Command(resume=reply(second, is_allowed=True)), THREAD)
    left = {"crm": 12 in customer_numbers(database), "shelf": shelf.done == []}
    assert left == {first["server"]: True, second["server"]: False}
