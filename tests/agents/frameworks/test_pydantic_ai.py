"""The tools of guarded servers in a pydantic-ai agent, on its own model for tests."""

import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic_ai import Agent, DeferredToolRequests, ToolApproved, ToolDenied
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
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
from sayso.agents.pydantic_ai import GuardedToolset
from sayso.demo.data import Database
from sayso.demo.server import build_server

pytestmark = pytest.mark.anyio

EXAMPLE = Path(__file__).parents[3] / "docs" / "agents-pydantic-ai.py"
OUTPUT: Any = [str, DeferredToolRequests]
Step = Sequence[tuple[str, Any]] | Callable[[], None]


class Script(FunctionModel):
    """A model that makes these calls, step by step, and then is done; it keeps what it was given.

    What is to happen between two steps may stand there as a function.
    """

    def __init__(self, *steps: Step) -> None:
        self.left = list(enumerate(steps, 1))
        self.given: list[AgentInfo] = []
        super().__init__(self.answer)

    def answer(self, _: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.given.append(info)
        while self.left:
            number, step = self.left.pop(0)
            if not callable(step):
                return ModelResponse(
                    [ToolCallPart(*one, f"{number}.{at}") for at, one in enumerate(step, 1)]
                )
            step()
        return ModelResponse([TextPart("done")])

    def tools(self, at: int) -> list[str]:
        return sorted(one.name for one in self.given[at].function_tools)


def told(result: Any) -> dict[str, str]:
    """Return what the model got for each call."""
    parts = [part for message in result.all_messages() for part in message.parts]
    ends = [one for one in parts if one.part_kind in {"tool-return", "retry-prompt"}]
    return {one.tool_call_id: str(one.content) for one in ends}


def agent_of(model: Any, *toolsets: Any) -> Agent[None, Any]:
    return Agent(model, toolsets=list(toolsets), output_type=OUTPUT)


async def resume(
    agent: Agent[None, Any], result: Any, *, user: str | None = None, **said: Any
) -> Any:
    """Go on with what a person has said, by the ids of the calls."""
    approvals = {name.strip("_").replace("_", "."): one for name, one in said.items()}
    return await agent.run(
        user,
        message_history=result.all_messages(),
        deferred_tool_results=result.output.build_results(approvals=approvals),
    )


async def test_reads_run_and_what_a_person_allows_runs_after_the_pause(database: Database) -> None:
    async with studio(database) as tools:
        agent = agent_of(Script([GET, DELETE]), GuardedToolset(tools))
        asked = await agent.run("delete customer 12")
        (question,) = asked.output.metadata.values()
        assert (question["number"], question["level"]) == (1, "destructive")
        assert (question["title"], question["arguments"]) == ("Delete customer", DELETE[1])
        assert "Delete customer 12" in question["sentence"]
        assert 12 in customers(database)

        ended = await resume(agent, asked, _1_2=True)
        assert ended.output == "done"
        assert "Lanternfish" in told(ended)["1.1"]
        assert "Customer 12 is deleted" in told(ended)["1.2"]
        (end,) = [one for one in ended.new_messages()[0].parts if one.part_kind == "tool-return"]
        assert end.metadata == {"is_error": False, "outcome": "ok"}
        assert 12 not in customers(database)
        assert await questions(tools) == {1: "used"}


async def test_a_denial_is_on_record_and_a_call_made_again_stays_denied(database: Database) -> None:
    async with studio(database) as tools:
        agent = agent_of(Script([DELETE], [DELETE]), GuardedToolset(tools))
        asked = await agent.run("delete customer 12")
        ended = await resume(agent, asked, _1_1=ToolDenied("keep her"))
        assert ended.output == "done"
        assert told(ended)["1.1"] == "keep her"
        assert "A person denied this call (approval 1)" in told(ended)["2.1"]
        assert "keep her" in told(ended)["2.1"]
        assert await questions(tools) == {1: "denied"}
        assert 12 in customers(database)


async def test_answers_find_their_questions_where_tools_have_other_names(
    database: Database,
) -> None:
    async with studio(database) as tools:
        calls = [(f"crm_{name}", wanted) for name, wanted in (DELETE, OTHER)]
        agent = agent_of(Script(calls), GuardedToolset(tools).prefixed("crm"))
        asked = await agent.run("delete both")
        ended = await resume(agent, asked, _1_1=True, _1_2=ToolDenied("no"))
        assert ended.output == "done"
        assert await questions(tools) == {1: "used", 2: "denied"}


async def test_an_approval_is_for_the_arguments_that_were_asked_about(database: Database) -> None:
    async with studio(database) as tools:
        agent = agent_of(Script([DELETE]), GuardedToolset(tools))
        asked = await agent.run("delete customer 12")
        again = await resume(agent, asked, _1_1=ToolApproved(override_args=OTHER[1]))
        assert again.output.metadata["1.1"]["number"] == 2
        assert again.output.metadata["1.1"]["arguments"] == OTHER[1]
        assert {11, 12} <= customers(database)


async def test_another_process_goes_on_once_it_knows_the_questions(database: Database) -> None:
    async with studio(database) as tools:
        asked = await agent_of(Script([DELETE, OTHER]), GuardedToolset(tools)).run("delete both")
        unaware = agent_of(Script(), GuardedToolset(tools))
        again = await resume(unaware, asked, _1_1=True, _1_2=True)
        assert [one["number"] for one in again.output.metadata.values()] == [1, 2]

        aware = GuardedToolset(tools)
        aware.remember(asked.output)
        ended = await resume(agent_of(Script(), aware), asked, _1_1=True, _1_2=ToolDenied("no"))
        assert ended.output == "done"
        assert await questions(tools) == {1: "used", 2: "denied"}
        assert customers(database) & {11, 12} == {11}


async def test_an_answer_to_another_question_answers_nothing(database: Database) -> None:
    async with studio(database) as tools:
        asked = await agent_of(Script([DELETE]), GuardedToolset(tools)).run("delete customer 12")
        aware = GuardedToolset(tools)
        asked.output.metadata["1.1"]["number"] = 7
        aware.remember(asked.output)
        again = await resume(agent_of(Script(), aware), asked, _1_1=True)
        assert again.output.metadata["1.1"]["number"] == 1
        assert await questions(tools) == {1: "pending"}


async def test_with_an_approver_that_waits_only_the_call_that_asks_waits(
    database: Database,
) -> None:
    queue = ApprovalQueue()
    results: list[Any] = []
    async with studio(database, approver=queue) as tools:
        agent = Agent(Script([DELETE, GET, OTHER]), toolsets=[GuardedToolset(tools)])

        async def run() -> None:
            results.append(await agent.run("delete both"))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(run)
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

    class Noting(GuardedToolset):
        async def call_tool(self, name: str, *args: Any, **words: Any) -> Any:
            result = await super().call_tool(name, *args, **words)
            ended.append(name)
            return result

    async with studio(database, approver=queue) as tools:
        agent = Agent(Script(MANY), toolsets=[Noting(tools)])

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(agent.run, "go")
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
        model = Script([("drawer_open", {})], forget, [("drawer_list", {})], [("drawer_list", {})])
        result = await agent_of(model, GuardedToolset(tools)).run("look")
        assert "drawer_list" not in model.tools(0)
        assert "drawer_list" in model.tools(2)
        assert told(result)["4.1"] == "A pen."


async def test_reads_run_side_by_side_and_writes_in_their_order() -> None:
    desk = Desk()
    async with guarded(desk.server()) as crm:
        agent = agent_of(Script(READS_AND_WRITES), GuardedToolset(Toolset(crm)))
        result = await agent.run("go")
    assert desk.done == ["a", "b", "c"]
    assert told(result)["1.2"] == "note x"


async def test_tools_have_their_level_and_the_prompt_is_of_the_same_tools(
    database: Database,
) -> None:
    async with studio(database) as tools:
        model = Script()
        await agent_of(model, GuardedToolset(tools, id="crm")).run("hello")
        (given,) = model.given
        found = {one.name: one for one in given.function_tools}
        about = found["customer_delete"].metadata or {}
        assert about["level"] == "destructive"
        assert about["hints"]["destructive"] is True
        assert about["asks"] is True
        assert (found["customers_get"].metadata or {})["level"] == "read"
        assert not found["customer_delete"].sequential
        assert "customer_delete" in (given.instructions or "")


async def test_each_step_gets_the_tools_that_the_user_asked_for() -> None:
    async with guarded(cabinet()) as crm:
        tools = Toolset(crm, most=6, always=("event_list",))
        model = Script([("parcel_list", {})], [("parcel_delete", {})])
        agent = agent_of(model, GuardedToolset(tools))
        first = await agent.run("list the parcels")
        assert {"parcel_list", "event_list"} <= set(model.tools(0))
        assert len(model.tools(0)) <= 6
        assert not [name for name in model.tools(0) if name.endswith("_delete")]
        assert told(first)["1.1"] == LURE
        assert model.tools(1) == model.tools(0)
        assert "Unknown tool name: 'parcel_delete'" in told(first)["2.1"]
        assert "ticket_delete" not in str(model.given[1].instructions)

        await agent.run("delete the tickets", message_history=first.all_messages())
        assert "ticket_delete" in model.tools(-1)


async def test_a_call_goes_on_though_the_user_has_said_something_else_since() -> None:
    async with guarded(cabinet()) as crm:
        tools = GuardedToolset(Toolset(crm, most=4))
        agent = agent_of(Script([("ticket_delete", {})]), tools)
        asked = await agent.run("delete the ticket")
        ended = await resume(agent, asked, user="and list the parcels", _1_1=True)
        assert told(ended)["1.1"] == LURE


async def test_the_mode_may_change_during_a_run(database: Database) -> None:
    async with studio(database) as tools:
        model = Script([GET], lambda: tools.switch("plan"), [DELETE], [GET])
        result = await agent_of(model, GuardedToolset(tools)).run("delete customer 12")
        assert "only reads run while planning" in told(result)["3.1"]
        assert "Lanternfish" in told(result)["4.1"]
        assert result.output == "done"
        assert 12 in customers(database)
        assert await questions(tools) == {}
        assert model.given[0].instructions != model.given[-1].instructions


async def test_a_cancelled_run_leaves_no_question_behind(database: Database) -> None:
    queue = ApprovalQueue()
    async with studio(database, approver=queue) as tools:
        agent = Agent(Script([DELETE]), toolsets=[GuardedToolset(tools)])
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(agent.run, "delete customer 12")
                await queue.take()
                group.cancel_scope.cancel()
        assert await questions(tools) == {1: "expired"}


async def test_a_run_that_fails_beside_a_pause_takes_its_question_back(database: Database) -> None:
    async with studio(database) as tools:
        agent = agent_of(Script([DELETE, ("fail", {})]), GuardedToolset(tools))

        @agent.tool_plain
        async def fail() -> str:
            while not await questions(tools):
                await anyio.sleep(0.005)
            raise ZeroDivisionError

        with anyio.fail_after(30), pytest.raises(ZeroDivisionError):
            await agent.run("delete customer 12")
        assert await questions(tools) == {1: "expired"}


async def test_what_a_model_gets_wrong_comes_back_as_words(database: Database) -> None:
    async with studio(database) as tools:
        broken = ("customer_delete", '{"customer_id": ')
        model = Script([broken], [broken], [("customer_delete", "[1]")], [("customer_drop", {})])
        result = await agent_of(model, GuardedToolset(tools)).run("go")
        said = told(result)
        assert result.output == "done"
        assert "this call cannot be read" in said["1.1"]
        assert "this call cannot be read" in said["2.1"]
        assert "a JSON object" in said["3.1"]
        assert "Unknown tool name: 'customer_drop'" in said["4.1"]


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
        model = Script([(delete, DELETE[1]), (create, {"name": "a"})])
        agent = agent_of(model, GuardedToolset(toolset))
        asked = await agent.run("delete customer 12")
        assert asked.output.metadata["1.1"]["server"] == "crm"
        ended = await resume(agent, asked, _1_1=True)
        assert "is deleted" in told(ended)["1.1"]
        assert desk.done == ["a"]


async def test_the_frameworks_own_test_model_can_call_every_tool(database: Database) -> None:
    async with studio(database) as tools:
        result = await agent_of(TestModel(), GuardedToolset(tools)).run("go")
        assert "customer_delete" in {one.tool_name for one in result.output.approvals}


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    shown = capsys.readouterr().out
    assert "is deleted" in shown
