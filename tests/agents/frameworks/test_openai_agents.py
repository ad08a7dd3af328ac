"""The tools of guarded servers in an agent of the OpenAI Agents SDK, on its scripted model."""

import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents import Agent, RunConfig, RunHooks, Runner, RunState, function_tool
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from tests.agents.frameworks.studio import (
    DELETE,
    GET,
    LURE,
    MANY,
    OTHER,
    READS_AND_WRITES,
    Desk,
    cabinet,
    customers,
    growing,
    guarded,
    questions,
    studio,
)

from sayso.agents import ApprovalQueue, Toolset
from sayso.agents.openai_agents import GuardedAgent, GuardedTool
from sayso.approvals import Approval
from sayso.demo.data import Database
from sayso.demo.server import build_server
from sayso.errors import UsageError

pytestmark = pytest.mark.anyio

EXAMPLE = Path(__file__).parents[3] / "docs" / "agents-openai-agents.py"
QUIET = RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
Calls = Sequence[tuple[str, Any]]


def script(*steps: Calls, between: Callable[[], None] = lambda: None) -> ScriptedModel:
    """A model that makes these calls, step by step, and then is done; `between` comes after the
    first step."""
    made = [
        [
            function_call(name, wanted, call_id=f"{step}.{at}")
            for at, (name, wanted) in enumerate(calls, 1)
        ]
        for step, calls in enumerate(steps, 1)
    ]
    first, *others = [*made, [assistant_message("done")]]

    def go_on(_: Any) -> Any:
        between()
        return others[0]

    return ScriptedModel([first, *([ModelStep.respond(go_on), *others[1:]] if others else [])])


def agent_of(model: Any, toolset: Toolset, **given: Any) -> GuardedAgent:
    return GuardedAgent("Clerk", model=model, toolset=toolset, **given)


async def run(agent: Agent[Any], said: Any) -> Any:
    return await Runner.run(agent, said, run_config=QUIET)


async def resume(agent: Agent[Any], result: Any, **said: bool | str) -> Any:
    """Go on with what a person has said, by the ids of the calls; words are a no."""
    state = result.to_state()
    for item in result.interruptions:
        answer = said["_" + item.raw_item.call_id.replace(".", "_")]
        if answer is True:
            state.approve(item)
        else:
            state.reject(item, rejection_message=answer or None)
    return await run(agent, state)


def told(result: Any) -> dict[str, str]:
    """Return what the model got for each call."""
    items = result.to_input_list()
    return {one["call_id"]: one["output"] for one in items if one.get("output") is not None}


def offered(model: ScriptedModel, at: int) -> list[str]:
    return sorted(one.name for one in model.calls[at].tools)


async def until_taken_back(toolset: Toolset) -> None:
    """The SDK does not wait for the calls that it has cancelled."""
    with anyio.fail_after(60):
        while await questions(toolset) != {1: "expired"}:
            await anyio.sleep(0.005)


async def test_reads_run_and_what_a_person_allows_runs_after_the_pause(database: Database) -> None:
    async with studio(database) as tools:
        agent = agent_of(script([GET, DELETE]), tools)
        asked = await run(agent, "delete customer 12")
        (item,) = asked.interruptions
        question = agent.question(item) or {}
        assert (question["number"], question["level"]) == (1, "destructive")
        assert (question["title"], question["arguments"]) == ("Delete customer", DELETE[1])
        assert "Delete customer 12" in question["sentence"]
        assert 12 in customers(database)

        ended = await resume(agent, asked, _1_2=True)
        assert ended.final_output == "done"
        assert "Lanternfish" in told(ended)["1.1"]
        assert "Customer 12 is deleted" in told(ended)["1.2"]
        assert 12 not in customers(database)
        assert await questions(tools) == {1: "used"}


async def test_a_denial_is_on_record_and_a_call_made_again_stays_denied(database: Database) -> None:
    async with studio(database) as tools:
        agent = agent_of(script([DELETE], [DELETE]), tools)
        asked = await run(agent, "delete customer 12")
        ended = await resume(agent, asked, _1_1="keep her")
        assert ended.final_output == "done"
        assert told(ended)["1.1"] == "keep her"
        assert "A person denied this call (approval 1)" in told(ended)["2.1"]
        assert "keep her" in told(ended)["2.1"]
        assert await questions(tools) == {1: "denied"}
        assert 12 in customers(database)


async def test_a_streamed_run_pauses_and_goes_on_alike(database: Database) -> None:
    async with studio(database) as tools:
        agent = agent_of(script([GET, DELETE]), tools)
        asked = Runner.run_streamed(agent, "delete customer 12", run_config=QUIET)
        assert [one async for one in asked.stream_events()]
        (item,) = asked.interruptions
        state = asked.to_state()
        state.approve(item)
        ended = Runner.run_streamed(agent, state, run_config=QUIET)
        assert [one async for one in ended.stream_events()]
        assert "Customer 12 is deleted" in told(ended)["1.2"]


async def test_another_process_goes_on_once_it_knows_the_questions(database: Database) -> None:
    async with studio(database) as tools:
        agent = agent_of(script([DELETE, OTHER]), tools)
        asked = await run(agent, "delete both")
        saved = asked.to_state().to_json()
        known = [agent.question(item) or {} for item in asked.interruptions]

        aware = agent_of(script(), tools)
        state: RunState[Any, Any] = await RunState.from_json(aware, saved)
        first, second = state.get_interruptions()
        assert aware.question(first) is None
        aware.remember(first, known[0])
        aware.remember(second, known[1])
        state.approve(first)
        state.reject(second)
        ended = await run(aware, state)
        assert ended.final_output == "done"
        assert await questions(tools) == {1: "used", 2: "denied"}
        assert customers(database) & {11, 12} == {11}


async def test_an_answer_to_another_question_answers_nothing(database: Database) -> None:
    async with studio(database) as tools:
        asked = await run(agent_of(script([DELETE]), tools), "delete customer 12")
        aware = agent_of(script(), tools)
        state = await RunState.from_json(aware, asked.to_state().to_json())
        (item,) = state.get_interruptions()
        aware.remember(item, {"server": "crm", "number": 7})
        state.approve(item)
        ended = await run(aware, state)
        assert "Not run yet" in told(ended)["1.1"]
        assert await questions(tools) == {1: "pending"}


async def test_an_approval_for_always_answers_nothing_but_its_question(database: Database) -> None:
    async with studio(database) as tools:
        agent = agent_of(script([DELETE], [OTHER]), tools)
        asked = await run(agent, "delete both")
        state = asked.to_state()
        state.approve(asked.interruptions[0], always_approve=True)
        ended = await run(agent, state)
        assert "Customer 12 is deleted" in told(ended)["1.1"]
        assert "Not run yet" in told(ended)["2.1"]
        assert customers(database) & {11, 12} == {11}


async def test_an_approval_for_always_does_not_answer_its_neighbours_question(
    database: Database,
) -> None:
    async with studio(database) as tools:
        agent = agent_of(script([DELETE, OTHER]), tools)
        asked = await run(agent, "delete both")
        state = asked.to_state()
        state.approve(asked.interruptions[0], always_approve=True)
        ended = await run(agent, state)
        assert all("Not run yet" in said for said in told(ended).values())
        assert await questions(tools) == {1: "pending", 2: "pending"}
        assert customers(database) >= {11, 12}


async def test_with_an_approver_that_waits_only_the_call_that_asks_waits(
    database: Database,
) -> None:
    queue = ApprovalQueue()
    results: list[Any] = []
    async with studio(database, approver=queue) as tools:
        agent = agent_of(script([DELETE, GET, OTHER]), tools)

        async def go() -> None:
            results.append(await run(agent, "delete both"))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(go)
                first, second = await queue.take(), await queue.take()
                await second.deny("not her")
                await first.allow()
        (result,) = results
        assert "Lanternfish" in told(result)["1.2"]
        assert customers(database) & {11, 12} == {11}
        assert "The person said: “not her”" in told(result)["1.3"]


async def test_calls_that_wait_hold_up_none_of_fifty(database: Database) -> None:
    queue = ApprovalQueue()
    ended: list[str] = []

    class Hooks(RunHooks[Any]):
        async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
            del context, agent, result
            ended.append(tool.name)

    async with studio(database, approver=queue) as tools:
        agent = agent_of(script(MANY), tools)

        async def go() -> None:
            await Runner.run(agent, "go", run_config=QUIET, hooks=Hooks())

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(go)
                asked = [await queue.take() for _ in range(3)]
                while len(ended) < 47:
                    await anyio.sleep(0.005)
                for one in asked:
                    await one.deny()
        assert len(ended) == 50
        assert {10, 11, 12} <= customers(database)


async def test_tools_that_come_during_a_run_are_there_at_the_next_step() -> None:
    async with guarded(growing()) as crm:
        tools = Toolset(crm)
        # As the server's word that its list has changed does.
        forget = tools.servers[0].listing.forget
        listed = ("drawer_list", {})
        model = script([("drawer_open", {})], [listed], [listed], between=forget)
        result = await run(agent_of(model, tools), "look")
        assert "drawer_list" not in offered(model, 0)
        assert "drawer_list" in offered(model, 2)
        assert told(result)["3.1"] == "A pen."


def allow(_: Approval) -> bool:
    return True


@pytest.mark.parametrize("mode", ["guarded", "strict"])
async def test_reads_run_side_by_side_and_writes_in_their_order(mode: str) -> None:
    desk = Desk()
    approver: Any = "deferred" if mode == "guarded" else allow
    async with guarded(desk.server(), mode=mode, approver=approver) as crm:
        result = await run(agent_of(script(READS_AND_WRITES), Toolset(crm)), "go")
    # Those that asked go on as they are answered.
    assert (desk.done if mode == "guarded" else sorted(desk.done)) == ["a", "b", "c"]
    assert told(result)["1.2"] == "note x"


async def test_tools_have_their_level_and_the_prompt_is_of_the_same_tools(
    database: Database,
) -> None:
    async with studio(database) as tools:
        model = script()
        await run(agent_of(model, tools, instructions="You are a clerk."), "hello")
        (given,) = model.calls
        found = {one.name: one for one in given.tools}
        delete, get = found["customer_delete"], found["customers_get"]
        assert isinstance(delete, GuardedTool)
        assert isinstance(get, GuardedTool)
        assert delete.guarded is not None
        assert get.guarded is not None
        assert (delete.guarded.level, get.guarded.level) == ("destructive", "read")
        said = given.system_instructions or ""
        assert said.startswith("You are a clerk.\n\n")
        assert "customer_delete" in said


async def test_each_step_gets_the_tools_that_the_user_asked_for() -> None:
    async with guarded(cabinet()) as crm:
        model = script([("parcel_list", {})], [("parcel_delete", {})])
        agent = agent_of(model, Toolset(crm, most=6, always=("event_list",)))
        first = await run(agent, "list the parcels")
        assert {"parcel_list", "event_list"} <= set(offered(model, 0))
        assert len(offered(model, 0)) <= 6
        assert not [name for name in offered(model, 0) if name.endswith("_delete")]
        assert told(first)["1.1"] == LURE
        assert offered(model, 1) == offered(model, 0)
        assert "parcel_delete" in told(first)["2.1"]
        assert "ticket_delete" not in str(model.calls[1].system_instructions)

        model.enqueue([assistant_message("done")])
        said = {"role": "user", "content": "delete the tickets"}
        await run(agent, [*first.to_input_list(), said])
        assert "ticket_delete" in offered(model, -1)


async def test_the_mode_may_change_during_a_run(database: Database) -> None:
    async with studio(database) as tools:
        model = script([GET], [DELETE], [GET], between=lambda: tools.switch("plan"))
        result = await run(agent_of(model, tools), "delete customer 12")
        assert result.final_output == "done"
        assert "only reads run while planning" in told(result)["2.1"]
        assert "Lanternfish" in told(result)["3.1"]
        assert 12 in customers(database)
        assert await questions(tools) == {}
        assert model.calls[0].system_instructions != model.calls[-1].system_instructions


async def test_a_cancelled_run_leaves_no_question_behind(database: Database) -> None:
    queue = ApprovalQueue()
    async with studio(database, approver=queue) as tools:
        agent = agent_of(script([DELETE]), tools)
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(run, agent, "delete customer 12")
                await queue.take()
                group.cancel_scope.cancel()
        await until_taken_back(tools)


@pytest.mark.parametrize("is_paused", [False, True])
async def test_a_run_that_fails_beside_a_pause_takes_its_question_back(
    database: Database, *, is_paused: bool
) -> None:
    """It fails as soon as the question is stored, or once the SDK knows that the call waits."""
    async with studio(database) as tools:

        @function_tool(failure_error_function=None)
        async def fail() -> str:
            while not (
                agent.pending and agent.pending.calls if is_paused else await questions(tools)
            ):
                await anyio.sleep(0.005)
            raise ZeroDivisionError

        agent = agent_of(script([DELETE, ("fail", {})]), tools, tools=[fail])
        with anyio.fail_after(30), pytest.raises(Exception, match="fail"):
            await run(agent, "delete customer 12")
        await until_taken_back(tools)


async def test_what_a_model_gets_wrong_comes_back_as_words(database: Database) -> None:
    async with studio(database) as tools:
        broken = ("customers_get", '{"customer_id": ')
        model = script([broken], [broken], [("customers_get", "[1]")], [("customer_drop", {})])
        result = await run(agent_of(model, tools), "go")
        said = told(result)
        assert result.final_output == "done"
        assert "this call cannot be read" in said["1.1"]
        assert "this call cannot be read" in said["2.1"]
        assert "a JSON object" in said["3.1"]
        assert "customer_drop" in said["4.1"]


async def test_arguments_that_the_sdk_cannot_read_never_run(database: Database) -> None:
    async with studio(database) as tools:
        agent = agent_of(script([("customer_delete", '{"customer_id": ')]), tools)
        asked = await run(agent, "go")
        (item,) = asked.interruptions
        assert agent.question(item) is None
        ended = await resume(agent, asked, _1_1=True)
        assert "this call cannot be read" in told(ended)["1.1"]


async def test_two_servers_are_told_apart_by_name(database: Database) -> None:
    desk = Desk()
    async with (
        guarded(build_server(database)) as crm,
        guarded(desk.server(), server="desk") as notes,
    ):
        toolset = Toolset(crm, notes)
        names = await toolset.tools()
        delete = next(name for name in names if name.endswith("customer_delete"))
        create = next(name for name in names if name.endswith("note_create"))
        agent = agent_of(script([(delete, DELETE[1]), (create, {"name": "a"})]), toolset)
        asked = await run(agent, "delete customer 12")
        question = agent.question(asked.interruptions[0]) or {}
        assert question["server"] == "crm"
        ended = await resume(agent, asked, _1_1=True)
        assert "is deleted" in told(ended)["1.1"]
        assert desk.done == ["a"]


def test_an_agent_needs_a_toolset() -> None:
    with pytest.raises(UsageError, match="toolset is required"):
        GuardedAgent("Clerk")


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    shown = capsys.readouterr().out
    assert shown.splitlines()[-1] == "Customer 12 is deleted."
