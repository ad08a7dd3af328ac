"""The tools of guarded servers as a model gets them, and the calls that it makes."""

import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from tests.agents.office import Office, call, deny, pending, toolset
from tests.agents.serving import events, text
from tests.connect.serving import until

import sayso
from sayso.agents import ApprovalQueue, Asked, Step, ToolCall, ToolResult
from sayso.agents.compatibility import fit_name, fit_qualified, fit_schema
from sayso.agents.exchange import Picture
from sayso.audit import Outcome
from sayso.demo.data import Database, open_database
from sayso.demo.server import build_server
from sayso.errors import UsageError
from sayso.intent import Level
from sayso.policy import load_policy

pytestmark = pytest.mark.anyio

FIT = re.compile(r"[A-Za-z0-9_-]{1,64}")


@asynccontextmanager
async def two(
    url: str, offices: tuple[Office, Office], other: str | None = None, **wrapped: Any
) -> AsyncGenerator[sayso.Toolset]:
    """The tools of two offices, each in a store of its own if there is an `other`."""
    async with (
        Client(offices[0].server()) as first,
        Client(offices[1].server()) as second,
        sayso.wrap(first, server="north", audit=url, **wrapped) as north,
        sayso.wrap(second, server="south", audit=other or url, **wrapped) as south,
    ):
        yield sayso.Toolset(north, south)


async def test_tools_come_with_levels_schemas_and_whether_they_ask(url: str) -> None:
    async with toolset(Office(), url) as tools:
        found = await tools.tools()
    assert {name: one.level for name, one in found.items()} == {
        "note_read": Level.READ,
        "note_photo": Level.READ,
        "note_set": Level.WRITE,
        "note_add": Level.WRITE,
        "note_drop": Level.DESTRUCTIVE,
    }
    assert [name for name, one in found.items() if one.asks] == ["note_drop"]
    assert [name for name, one in found.items() if one.is_repeatable] == [
        "note_read",
        "note_photo",
        "note_set",
    ]
    drop = found["note_drop"]
    assert drop.schema["properties"]["number"]["type"] == "integer"
    assert (drop.title, drop.description) == ("Drop note", "Drop a note.")


async def test_the_tools_of_several_servers_have_their_names_in_front(url: str) -> None:
    offices = Office(), Office()
    async with two(url, offices) as tools:
        step = await tools.step()
        names = list(step.tools)
        assert len(names) == 10
        south = next(name for name in names if "south" in name and "read" in name)
        (result,) = await step.run([call(south)])
    assert all(FIT.fullmatch(name) for name in names)
    assert all(name in step.prompt for name in names)
    assert result.text == "note_read 1 is done"
    assert (offices[0].done, offices[1].done) == ([], [("note_read", 1)])


async def test_names_that_no_model_can_say_are_fitted_and_called_by_that(url: str) -> None:
    server: MCPServer[Any] = MCPServer("odd", log_level="ERROR")
    said: list[str] = []

    def tool() -> str:
        """Get a thing."""
        said.append("called")
        return "done"

    names = ["thing.get", "thing_get", "x" * 100]
    for name in names:
        server.add_tool(tool, name=name, annotations=ToolAnnotations(read_only_hint=True))
    async with Client(server) as client, sayso.wrap(client, audit=url) as guarded:
        tools = sayso.Toolset(guarded)
        fitted = list(await tools.tools())
        for name in fitted:
            assert FIT.fullmatch(name)
            assert (await tools.call(ToolCall("a", name))).text == "done"
    assert len(set(fitted)) == len(said) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("crm", "eu__list"), ("crm__eu", "list")),
        (("crm", "_list"), ("crm_", "list")),
        (("crm.eu", "list"), ("crm_eu", fit_qualified("crm.eu", "list")[8:])),
        (("crm", "eu__list"), ("crm__eu__", "list")),
        (("crm__eu", "list"), ("crm", fit_qualified("crm__eu", "list")[5:])),
    ],
)
def test_no_server_can_take_the_name_of_anothers_tool(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    names = fit_qualified(*one), fit_qualified(*other)
    assert names[0] != names[1]
    assert all(FIT.fullmatch(name) for name in names)


async def test_of_two_tools_of_one_name_none_is_offered(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found_by_force(_: object) -> str:
        return "0" * 64

    def tool() -> str:
        """Get a thing."""
        return "done"

    monkeypatch.setattr("sayso.agents.compatibility.digest", found_by_force)
    server: MCPServer[Any] = MCPServer("odd", log_level="ERROR")
    for name in ("thing.get", "thing..get", "thing_get"):
        server.add_tool(tool, name=name)
    async with Client(server) as client, sayso.wrap(client, audit=url) as guarded:
        assert list(await sayso.Toolset(guarded).tools()) == ["thing_get"]


@given(st.text(max_size=100), st.text(max_size=100))
def test_a_fitted_name_can_be_said_and_is_of_one_tool(one: str, other: str) -> None:
    try:
        names = fit_name(one), fit_name(other)
    except UsageError:  # half a surrogate pair is no text, and no name
        return
    assert all(FIT.fullmatch(name) for name in names)
    assert (names[0] == names[1]) is (one == other)


@pytest.mark.parametrize(
    ("schema", "fitted"),
    [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object", "required": ["a"]}, {"required": ["a"], "properties": {}}),
        (
            {
                "properties": {"a": {"type": "string"}},
                "anyOf": [{"properties": {"a": {}, "b": {}}}],
            },
            {"properties": {"a": {"type": "string"}, "b": {}}},
        ),
        ({"enum": [1], "not": {}, "allOf": "no", "$defs": {"x": {}}}, {"$defs": {"x": {}}}),
        ({"oneOf": [True, {"properties": None}]}, {}),
    ],
)
def test_schemas_are_of_an_object_with_nothing_that_model_apis_refuse(
    schema: dict[str, Any], fitted: dict[str, Any]
) -> None:
    assert fit_schema(schema) == {"type": "object", "properties": {}, **fitted}


async def test_a_step_offers_what_fits_the_users_words(url: str, database: Database) -> None:
    async with (
        Client(build_server(database)) as client,
        sayso.wrap(client, approver=deny, audit=url) as guarded,
    ):
        tools = sayso.Toolset(guarded, most=3, always=("customers_list",))
        reading = await tools.step(["Which invoices are open?", "Show me customer 4"])
        dropping = await tools.step("Delete customer 4")
        with pytest.raises(UsageError, match="no_such"):
            await sayso.Toolset(guarded, most=3, always=("no_such",)).step("Hello")
        hidden = await reading.call(ToolCall("a", "customer_delete", {"customer_id": 4}))
    assert "customers_list" in reading.tools
    assert "customer_delete" not in reading.tools
    assert "customer_delete" in dropping.tools
    assert "customer_delete" not in reading.prompt
    assert "there is no tool “customer_delete” here" in hidden.text
    assert reading.selection is not None


async def test_a_step_offers_so_many_tools_at_most(url: str) -> None:
    server: MCPServer[Any] = MCPServer("many", log_level="ERROR")
    for word in ("apple", "pear", "plum", "fig", "lemon", "quince", "melon", "grape"):
        for verb in ("get", "list", "count", "check"):
            server.add_tool(
                lambda: "done",
                name=f"{word}_{verb}",
                description=f"{verb.title()} each {word}.",
                annotations=ToolAnnotations(read_only_hint=True),
            )
    async with Client(server) as client, sayso.wrap(client, audit=url) as guarded:
        tools = sayso.Toolset(guarded, most=5, always=("fig_get",))
        step = await tools.step(["Count the plums", "And how many melons are there?"])
    assert len(step.tools) <= 5
    assert {"fig_get", "melon_count"} <= step.tools.keys()


async def test_a_step_is_shown_by_its_tools_and_by_nothing_behind_them(url: str) -> None:
    async with toolset(Office(), url, wrapped={"server": "office"}) as tools:
        step = await tools.step()
        assert repr(tools) == "<sayso toolset: office>"
        assert repr(step) == f"<sayso step: {', '.join(step.tools)}>"
        assert repr(step.tools["note_read"]) == "<sayso tool: note_read, read>"
        assert repr(Step(tools, {})) == "<sayso step: no tools>"


async def test_a_pinned_name_stays_with_the_tool_that_it_was_at_first(url: str) -> None:
    def tool() -> str:
        """Get a thing."""
        return "done"

    async def pinned(tools: sayso.Toolset) -> list[str]:
        selection = (await tools.step()).selection
        return [one.name for one in selection.chosen if one.is_pinned] if selection else []

    ours, theirs = (MCPServer[Any](name, log_level="ERROR") for name in ("ours", "theirs"))
    ours.add_tool(tool, name="thing_get")
    async with (
        Client(ours) as one,
        Client(theirs) as other,
        sayso.wrap(one, server="ours", audit=url) as first,
        sayso.wrap(other, server="theirs", audit=url) as second,
    ):
        tools = sayso.Toolset(first, second, most=1, always=["thing_get"])
        assert await pinned(tools) == ["ours__thing_get"]
        for name in ("thing_get", "ours__thing_get"):
            theirs.add_tool(tool, name=name)
        for server in tools.servers:
            server.listing.forget()
        assert await pinned(tools) == ["ours__thing_get"]
        ours.remove_tool("thing_get")
        tools.servers[0].listing.forget()
        with pytest.raises(UsageError, match="'ours__thing_get' no longer exists"):
            await tools.step()


async def test_the_mode_is_switched_in_the_midst_of_a_conversation(url: str) -> None:
    office = Office()
    async with toolset(office, url) as tools:
        before = await tools.step()
        told = before.prompt
        tools.switch("plan")
        planning = await tools.step()
        assert planning.prompt != told
        (refused,) = await before.run([call("note_add")])
        (read,) = await planning.run([call("note_read")])
        tools.switch("guarded")
        (added,) = await (await tools.step()).run([call("note_add")])
        with pytest.raises(UsageError, match="invalid mode 'observe'"):
            tools.switch("observe")
    assert refused.outcome is Outcome.DENIED
    assert not read.is_error
    assert not added.is_error
    assert office.done == [("note_read", 1), ("note_add", 1)]


async def test_what_waits_is_judged_by_the_mode_that_holds_when_it_is_answered(url: str) -> None:
    office = Office()
    queue = ApprovalQueue()
    results: list[ToolResult] = []
    async with toolset(office, url, wrapped={"approver": queue}) as tools:

        async def run() -> None:
            results.extend(await tools.run([call("note_drop")]))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            asked = await queue.take()
            tools.switch("plan")
            await asked.allow()
    assert results[0].outcome is Outcome.DENIED
    assert office.log == []


async def test_a_deferred_call_ends_at_once_and_is_settled_by_the_program(url: str) -> None:
    office = Office()
    async with toolset(office, url, wrapped={"approver": "deferred"}) as tools:
        yes, no = await tools.run([call("note_drop", 1), call("note_drop", 2)])
        assert tools.defers(yes)
        assert yes.approval is not None
        assert no.approval is not None
        assert yes.approval.question.arguments == {"number": 1}
        done = await tools.settle(call("note_drop", 1), yes.approval.number, is_allowed=True)
        denied = await tools.settle(
            call("note_drop", 2), no.approval.number, is_allowed=False, message="keep it"
        )
    assert done.text == "note_drop 1 is done"
    assert "keep it" in denied.text
    assert not tools.defers(done)
    assert not tools.defers(denied)
    assert office.done == [("note_drop", 1)]


async def test_an_answer_to_another_question_does_not_serve(url: str) -> None:
    office = Office()
    async with toolset(office, url, wrapped={"approver": "deferred"}) as tools:
        first, second = await tools.run([call("note_drop", 1), call("note_drop", 2)])
        assert first.approval is not None
        assert second.approval is not None
        waits = await tools.settle(call("note_drop", 1), second.approval.number, is_allowed=True)
        assert waits.approval is not None
        assert waits.approval.number == first.approval.number
        await tools.withdraw([first])
        late = await tools.settle(call("note_drop", 1), first.approval.number, is_allowed=True)
        assert late.approval is not None
        assert late.approval.number not in {first.approval.number, second.approval.number}
    assert office.log == []


async def test_an_answer_to_another_servers_question_of_the_same_number_does_not_serve(
    url: str, tmp_path: Any
) -> None:
    offices = Office(), Office()
    other = f"sqlite:{tmp_path / 'other.db'}"
    async with two(url, offices, other, approver="deferred") as tools:
        drops = [call(name) for name in await tools.tools() if "drop" in name]
        north, south = await tools.run(drops)
        assert north.approval is not None
        assert south.approval is not None
        asked = south.approval
        assert north.approval.number == asked.number
        about = asked.question.server
        waits = await tools.settle(drops[0], asked.number, is_allowed=True, server=about)
        assert waits.approval is not None
        assert await pending(url) == [north.approval.number]
        done = await tools.settle(drops[1], asked.number, is_allowed=True, server=about)
        assert not done.is_error
    assert (offices[0].done, offices[1].done) == ([], [("note_drop", 1)])


async def test_only_a_program_that_said_so_gives_the_answers(url: str) -> None:
    office = Office()
    queue = ApprovalQueue()
    async with toolset(office, url, wrapped={"approver": queue, "patience": 0.1}) as tools:
        (waits,) = await tools.run([call("note_drop")])
        assert waits.approval is not None
        assert not tools.defers(waits)
        with pytest.raises(UsageError, match="cannot be answered"):
            await tools.settle(call("note_drop"), waits.approval.number, is_allowed=True)
    assert office.log == []


async def test_questions_of_one_number_in_two_stores_are_taken_back_one_by_one(
    url: str, tmp_path: Any
) -> None:
    other = f"sqlite:{tmp_path / 'other.db'}"
    async with two(url, (Office(), Office()), other, approver="deferred") as tools:
        drops = [name for name in await tools.tools() if "drop" in name]
        north, south = await tools.run([call(name) for name in drops])
        assert north.approval is not None
        assert south.approval is not None
        assert north.approval.number == south.approval.number
        await tools.withdraw([north])
        assert (len(await pending(url)), len(await pending(other))) == (0, 1)
        await tools.withdraw()
        assert await pending(other) == []


async def test_results_of_an_iterator_are_taken_back_at_all_servers(
    url: str, tmp_path: Any
) -> None:
    other = f"sqlite:{tmp_path / 'other.db'}"
    async with two(url, (Office(), Office()), other, approver="deferred") as tools:
        drops = [name for name in await tools.tools() if "drop" in name]
        results = await tools.run([call(name) for name in drops])
        await tools.withdraw(result for result in results)
        assert (await pending(url), await pending(other)) == ([], [])


async def test_leaving_by_a_cancellation_takes_questions_back_and_leaving_in_order_does_not(
    url: str,
) -> None:
    async with toolset(Office(), url, wrapped={"approver": "deferred"}) as tools:
        await tools.run([call("note_drop", 1)])
    assert len(await pending(url)) == 1
    with anyio.CancelScope() as scope:
        async with toolset(Office(), url, wrapped={"approver": "deferred"}) as tools:
            await tools.run([call("note_drop", 2)])
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    assert len(await pending(url)) == 1


async def test_a_queue_gives_each_question_once_and_serves_several_clients(url: str) -> None:
    queue = ApprovalQueue()
    taken: list[Asked] = []
    async with two(url, (Office(), Office()), approver=queue) as tools:
        drops = [name for name in await tools.tools() if "drop" in name]
        calls = [ToolCall(str(place), name, {"number": 1}) for place, name in enumerate(drops * 2)]
        async with anyio.create_task_group() as group:
            group.start_soon(tools.run, calls)
            async for asked in queue:
                taken.append(asked)
                assert await asked.deny("no")
                assert not await asked.allow()
                if len(taken) == 2:
                    break
    servers = {one.approval.question.server for one in taken}
    assert servers == {"north", "south"}


async def test_a_question_that_expired_takes_no_answer(url: str) -> None:
    queue = ApprovalQueue()
    async with toolset(Office(), url, wrapped={"approver": queue, "patience": 0.1}) as tools:
        await tools.run([call("note_drop")])
        asked = await queue.take()
        await tools.withdraw()
        assert not await asked.allow()


async def test_a_toolset_of_a_client_that_is_not_wrapped_or_not_entered_is_an_error() -> None:
    client = Client(Office().server())
    for wrong in (client, sayso.wrap(client)):
        with pytest.raises(
            UsageError, match=r"wrapped and entered, got a .* async with sayso\.wrap"
        ):
            sayso.Toolset(cast("Any", wrong))


async def test_a_toolset_of_nothing_of_twins_or_of_different_rules_is_an_error(url: str) -> None:
    office = Office()
    with pytest.raises(UsageError, match="at least one client is required"):
        sayso.Toolset()
    strict = load_policy("mode = 'strict'")
    async with (
        Client(office.server()) as client,
        sayso.wrap(client, audit=url) as one,
        sayso.wrap(client, audit=url) as twin,
        sayso.wrap(client, audit=url, server="other", policy=strict) as other,
        sayso.wrap(client, audit=url, server="bos", principal="bo") as bos,
    ):
        with pytest.raises(UsageError, match="two clients are called 'office'"):
            sayso.Toolset(one, twin)
        for wrong in (other, bos):
            with pytest.raises(UsageError, match="different policies, modes or principals"):
                sayso.Toolset(one, wrong)


CALLS = (
    ("customers_get", {"customer_id": 3}),
    ("customers_get", {"customer_id": 999}),
    ("customers_get", {"customer": 3}),
    ("customers_list", {}),
    ("customer_delete", {"customer_id": 4}),
)


async def test_a_toolset_and_a_guarded_client_do_the_same(url: str) -> None:
    with open_database() as database:
        async with (
            Client(build_server(database)) as client,
            sayso.wrap(client, approver=deny, audit=url) as guarded,
        ):
            bare = [await guarded.call_tool(name, given) for name, given in CALLS]
            before = await events(url)
            tools = sayso.Toolset(guarded)
            made = [await tools.call(ToolCall("a", name, given)) for name, given in CALLS]
            listed = (await guarded.list_tools()).tools
            assert list(await tools.tools()) == [one.name for one in listed]
    assert [(one.text, one.is_error) for one in made] == [(text(one), one.is_error) for one in bare]
    # The person has said no: the second time nobody is asked.
    after = (await events(url))[len(before) :]
    assert after == [one for one in before if one[0] != "asked"]


def result(**answer: Any) -> ToolResult:
    return ToolResult("a", "tool", answer)


def test_a_result_says_in_text_what_its_blocks_are() -> None:
    blocks = [
        {"type": "text", "text": "one"},
        {"type": "image", "mimeType": "image/png", "data": "AA=="},
        {"type": "audio", "mimeType": "audio/wav", "data": "AA=="},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "a/b", "blob": "AA=="}},
        {"type": "resource_link", "uri": "file:///b", "name": "b"},
        {"type": "image", "mimeType": "image/png"},
        "nothing",
    ]
    told = result(content=blocks)
    assert told.text.splitlines() == [
        "one",
        "[image: image/png]",
        "[audio: audio/wav]",
        "inside",
        "[resource: a/b]",
        "[resource_link: file:///b]",
        "[image: image/png]",
        "[block: unknown]",
    ]
    assert told.parts[1] == Picture("image/png", "AA==")
    assert not told.is_error
    assert result(structuredContent={"a": "ö"}).text == '{"a": "ö"}'
    assert result(content=[]).text == ""


async def test_calls_that_cannot_be_read_leave_nobody_in_line(url: str) -> None:
    def broken() -> Iterator[ToolCall]:
        yield call("note_add", 1)
        raise ZeroDivisionError

    office = Office()
    async with toolset(office, url) as tools:
        with pytest.raises(ZeroDivisionError):
            await tools.run(broken())
        with anyio.fail_after(60):
            assert not (await tools.call(call("note_add", 2))).is_error
    assert office.done == [("note_add", 2)]


async def test_a_call_waits_for_its_turn_and_a_judgement_waits_with_it(url: str) -> None:
    """A call is decided when it is its turn."""
    office = Office(doors={1: anyio.Event()})
    results: list[ToolResult] = []
    async with toolset(office, url) as tools, anyio.create_task_group() as group:

        async def run() -> None:
            results.extend(await tools.run([call("note_add", 1), call("note_add", 2)]))

        group.start_soon(run)
        await until(lambda: len(office.log) == 1)
        tools.switch("plan")
        office.doors[1].set()
        await until(lambda: len(results) == 2)
    assert [one.outcome for one in results] == [Outcome.OK, Outcome.DENIED]
    assert office.done == [("note_add", 1)]
