"""The reference loop: a scripted model, real servers, a real store."""

import itertools
from typing import Any

import anyio
import pytest
from tests.agents.office import Office, call, deny, pending, script, toolset
from tests.agents.serving import events
from tests.connect.serving import until

from avow.agents import (
    Agent,
    ApprovalQueue,
    End,
    Event,
    Reply,
    Results,
    Run,
    ToolCall,
    ToolResult,
    UserMessage,
    Waiting,
)
from avow.errors import UsageError

pytestmark = pytest.mark.anyio


def answered(messages: Any) -> bool:
    """Whether each reply with calls is followed by a result for each, as providers want it."""
    pairs = itertools.zip_longest(messages, messages[1:])
    return all(
        isinstance(after, Results) and [r.id for r in after.results] == [c.id for c in one.calls]
        for one, after in pairs
        if isinstance(one, Reply) and one.calls
    )


async def test_a_run_goes_on_until_the_model_makes_no_more_calls(url: str) -> None:
    model = script([call("note_read"), call("note_add")], [call("note_read", 2)], "All is well.")
    async with toolset(Office(), url) as tools:
        agent = Agent(model, tools, instructions="You keep the notes.")
        run = await agent.run("Look after the notes")
    assert (run.text, run.end) == ("All is well.", End.DONE)
    assert [one.text for one in run.results] == [
        "note_read 1 is done",
        "note_add 1 is done",
        "note_read 2 is done",
    ]
    assert answered(agent.messages)
    system, messages, names = model.heard[0]
    assert system.startswith("You keep the notes.\n\n")
    assert "note_drop" in system
    assert messages == (UserMessage("Look after the notes"),)
    assert names == ["note_read", "note_photo", "note_set", "note_add", "note_drop"]


async def test_a_conversation_goes_on_over_several_runs(url: str) -> None:
    model = script("Hello.", [call("note_read")], "Read.")
    async with toolset(Office(), url) as tools:
        agent = Agent(model, tools)
        await agent.run("Hello")
        run = await agent.run("Read it")
    assert [type(one) for one in agent.messages] == [
        UserMessage,
        Reply,
        UserMessage,
        Reply,
        Results,
        Reply,
    ]
    assert run.messages == tuple(agent.messages[2:])
    assert [one.text for one in model.heard[1][1] if isinstance(one, UserMessage)] == [
        "Hello",
        "Read it",
    ]


async def test_screens_hear_what_is_said_called_waited_for_and_ended(url: str) -> None:
    heard: list[Event] = []
    queue = ApprovalQueue()
    model = script([call("note_drop"), call("note_read")], "Done.")
    async with toolset(Office(), url, wrapped={"approver": queue}) as tools:
        agent = Agent(model, tools, on_event=heard.append)
        async with anyio.create_task_group() as group:
            group.start_soon(agent.run, "Drop it")
            # The read does not wait for the person.
            await until(lambda: any(isinstance(one, ToolResult) for one in heard))
            await until(lambda: any(isinstance(one, Waiting) for one in heard))
            (waiting,) = [one for one in heard if isinstance(one, Waiting)]
            assert waiting.call.name == "note_drop"
            asked = await queue.take()
            assert asked.approval.number == waiting.approval.number
            assert await asked.allow()
    assert [type(one) for one in heard if not isinstance(one, Waiting)] == [
        Reply,
        ToolCall,
        ToolCall,
        ToolResult,
        ToolResult,
        Reply,
        Run,
    ]
    results = [one.name for one in heard if isinstance(one, ToolResult)]
    assert results == ["note_read", "note_drop"]


async def test_a_screen_that_fails_ends_no_run(url: str) -> None:
    def fail(_: Event) -> None:
        raise ZeroDivisionError

    async with toolset(Office(), url) as tools:
        agent = Agent(script([call("note_read")], "Read."), tools, on_event=fail)
        assert (await agent.run("Read it")).text == "Read."


async def test_a_run_asks_the_model_only_so_many_times(url: str) -> None:
    model = script(*[[call("note_read", number)] for number in range(5)])
    async with toolset(Office(), url) as tools:
        agent = Agent(model, tools, max_steps=3)
        run = await agent.run("Read them")
        assert (run.end, run.reason) == (End.STEPS, "it has asked the model 3 times")
        assert answered(agent.messages)
        # It may be let go on.
        model.lines.clear()
        model.lines.append("That was all.")
        assert (await agent.run()).text == "That was all."


async def test_a_run_ends_once_it_has_used_its_tokens(url: str) -> None:
    model = script(*[[call("note_read", number)] for number in range(5)])
    async with toolset(Office(), url) as tools:
        run = await Agent(model, tools, max_tokens=15).run("Read them")
    assert (run.end, run.reason) == (End.TOKENS, "it has used 20 tokens")


async def test_a_reply_that_was_cut_makes_no_calls(url: str) -> None:
    office = Office()
    cut = Reply("I shall", (call("note_add"),), is_cut=True)
    async with toolset(office, url) as tools:
        agent = Agent(script(cut, "Shorter."), tools)
        run = await agent.run("Add a note")
        assert run.text == "Shorter."
        assert "limit of length" in run.results[0].text
        ended = await Agent(script(Reply("I sh", is_cut=True)), tools).run("Add a note")
    assert (ended.end, ended.text) == (End.CUT, "I sh")
    assert office.log == []
    assert answered(agent.messages)


async def test_the_words_of_a_person_who_says_no_reach_the_model(url: str) -> None:
    queue = ApprovalQueue()
    model = script([call("note_drop")], "As you like.")
    office = Office()
    async with (
        toolset(office, url, wrapped={"approver": queue}) as tools,
        anyio.create_task_group() as group,
    ):
        group.start_soon(Agent(model, tools).run, "Drop it")
        await (await queue.take()).deny("we need that one")
    (results,) = [one for one in model.heard[1][1] if isinstance(one, Results)]
    assert "we need that one" in results.results[0].text
    assert office.log == []


async def test_a_call_that_is_refused_again_and_again_ends_the_run(url: str) -> None:
    office = Office()
    again = [[ToolCall(f"id-{place}", "note_drop", {"number": 1})] for place in range(9)]
    async with toolset(office, url, wrapped={"approver": deny}) as tools:
        agent = Agent(script(*again), tools)
        run = await agent.run("Drop it")
    assert run.end is End.REFUSED
    assert run.reason == (
        "the model made the same call of “note_drop” 3 times, and it was refused each time"
    )
    assert office.log == []
    assert len(run.results) == 3
    assert answered(agent.messages)


async def test_deferred_calls_end_the_run_and_go_on_with_the_answers(url: str) -> None:
    office = Office()
    calls = [call("note_drop", 1), call("note_read", 2), call("note_drop", 3)]
    model = script(calls, "One of two.")
    async with toolset(office, url, wrapped={"approver": "deferred"}) as tools:
        agent = Agent(model, tools)
        run = await agent.run("Drop 1 and 3")
        assert run.end is End.WAITING
        assert [one.call.id for one in run.waiting] == ["note_drop-1", "note_drop-3"]
        assert office.done == [("note_read", 2)]
        with pytest.raises(UsageError, match="no call 'note_read-2' waits"):
            await agent.resume({"note_read-2": True})

        run = await agent.resume({"note_drop-3": "not that one"})
        assert [one.call.id for one in run.waiting] == ["note_drop-1"]
        run = await agent.resume({"note_drop-1": True})
    assert (run.end, run.text, run.waiting) == (End.DONE, "One of two.", ())
    assert office.done == [("note_read", 2), ("note_drop", 1)]
    told = [one.text for one in run.results]
    assert told[:2] == ["note_drop 1 is done", "note_read 2 is done"]
    assert "not that one" in told[2]
    assert answered(agent.messages)
    assert await pending(url) == []


async def test_saying_something_else_takes_back_what_waits(url: str) -> None:
    office = Office()
    model = script([call("note_drop")], "Well.")
    async with toolset(office, url, wrapped={"approver": "deferred"}) as tools:
        agent = Agent(model, tools)
        await agent.run("Drop it")
        assert len(await pending(url)) == 1
        run = await agent.run("Let it be")
        assert await pending(url) == []
        with pytest.raises(UsageError, match="waits"):
            await agent.resume({"note_drop-1": True})
    assert run.text == "Well."
    assert office.log == []
    assert answered(agent.messages)
    (results,) = [one for one in agent.messages if isinstance(one, Results)]
    assert "nobody is asked any longer" in results.results[0].text


async def test_an_error_of_the_model_is_raised_and_nothing_is_lost(url: str) -> None:
    office = Office()
    model = script([call("note_add")], ConnectionError("gone"), "Added.")
    async with toolset(office, url) as tools:
        agent = Agent(model, tools)
        with pytest.raises(ConnectionError, match="gone"):
            await agent.run("Add a note")
        assert answered(agent.messages)
        run = await agent.run()
    assert run.text == "Added."
    assert office.done == [("note_add", 1)]
    assert [type(one) for one in agent.messages] == [UserMessage, Reply, Results, Reply]


@pytest.mark.parametrize("approver", ["queue", "deferred"])
async def test_a_cancelled_run_leaves_no_question_and_each_call_with_a_result(
    url: str, approver: str
) -> None:
    office = Office(doors={7: anyio.Event()})
    calls = [call("note_drop", 1), call("note_read", 2), call("note_add", 7), call("note_add", 8)]
    queue = ApprovalQueue()
    heard: list[Event] = []
    way = queue if approver == "queue" else "deferred"
    async with toolset(office, url, wrapped={"approver": way}) as tools:
        agent = Agent(script(calls, "Well."), tools, on_event=heard.append)
        async with anyio.create_task_group() as group:
            group.start_soon(agent.run, "Do it all")
            await until(lambda: ("begin", "note_add", 7) in office.log)
            await until(lambda: any(isinstance(one, Waiting) for one in heard))
            assert len(await pending(url)) == 1
            group.cancel_scope.cancel()
        assert await pending(url) == []
        assert answered(agent.messages)
        assert (await agent.run()).text == "Well."
    results = agent.messages[2]
    assert isinstance(results, Results)
    assert results.results[1].text == "note_read 2 is done"
    assert all("broke off" in one.text for one in results.results[2:])
    assert office.done == [("note_read", 2)]
    assert ("outcome", "outcome_unknown") in await events(url)


async def test_an_agent_is_in_one_run_at_a_time(url: str) -> None:
    async with toolset(Office(), url) as tools:
        agent = Agent(script(anyio.sleep_forever), tools)
        async with anyio.create_task_group() as group:
            group.start_soon(agent.run, "Wait")
            await until(lambda: bool(agent.messages))
            with pytest.raises(UsageError, match="in a run already"):
                await agent.run("Hurry")
            group.cancel_scope.cancel()
    assert [one.text for one in agent.messages if isinstance(one, UserMessage)] == ["Wait"]


def test_two_calls_of_one_id_are_no_reply() -> None:
    with pytest.raises(UsageError, match="one id"):
        Reply("", (call("note_read"), call("note_read")))
