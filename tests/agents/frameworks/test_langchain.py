"""Agents of LangChain behind the guard, with real servers."""

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from tests.agents.frameworks.chains import (
    THREAD,
    Shelf,
    agent,
    allow,
    asked,
    calls,
    deny,
    graph,
    hinted,
    ran,
    said,
    scripted,
    shelved,
    studio,
    told,
    until,
)

import sayso
from sayso.agents import ApprovalQueue, Step
from sayso.agents.langchain import GuardMiddleware, reply, tools_of
from sayso.demo.customers import customer_numbers
from sayso.demo.data import Database
from sayso.errors import UsageError
from sayso.extras import install_command

pytestmark = pytest.mark.anyio

DOCS = Path(__file__).parents[3] / "docs"
GONE = "customer_delete"
GET = "customers_get"


@pytest.fixture(autouse=True)
def _untraced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")


async def test_reads_run_and_what_destroys_runs_once_it_is_approved(
    database: Database, url: str
) -> None:
    model = scripted(calls((GET, {"customer_id": 12}), (GONE, {"customer_id": 12})), "Done.")
    async with studio(database, url, approver=allow) as toolset:
        end = await agent(toolset, model).ainvoke(said("delete customer 12"))
    read, gone = told(end)
    assert read.artifact["structuredContent"]["customerId"] == 12
    assert (read.status, gone.status) == ("success", "success")
    assert 12 not in customer_numbers(database)
    assert {GET, GONE} <= set(model.offered[0])
    assert "Delete customer" in str(model.heard[0][0].content)
    assert end["messages"][-1].content == "Done."


async def test_a_denied_call_comes_back_as_words_also_when_it_is_repeated(
    database: Database, url: str
) -> None:
    gone = (GONE, {"customer_id": 12})
    model = scripted(calls(gone), calls(gone, first=2), "I was not allowed to.")
    async with studio(database, url, approver=deny) as toolset:
        end = await agent(toolset, model).ainvoke(said("delete customer 12"))
    assert [one.status for one in told(end)] == ["error", "error"]
    assert all("A person denied this call" in str(one.content) for one in told(end))
    assert 12 in customer_numbers(database)


async def test_a_call_that_asks_interrupts_and_runs_once_it_is_allowed(
    database: Database, url: str
) -> None:
    model = scripted(calls((GET, {"customer_id": 12}), (GONE, {"customer_id": 12})), "Done.")
    async with studio(database, url, approver="deferred") as toolset:
        run = agent(toolset, model, InMemorySaver())
        paused = await run.ainvoke(said("delete customer 12"), THREAD)
        (question,) = asked(paused)
        assert question == json.loads(json.dumps(question))
        assert (question["server"], question["tool"], question["level"], question["arguments"]) == (
            "crm",
            GONE,
            "destructive",
            {"customer_id": 12},
        )
        assert question["sentence"].startswith("This may delete, overwrite or send something")
        assert 12 in customer_numbers(database)
        end = await run.ainvoke(Command(resume=reply(question, is_allowed=True)), THREAD)
    assert [one.status for one in told(end)] == ["success", "success"]
    assert end["messages"][-1].content == "Done."
    assert 12 not in customer_numbers(database)
    assert await ran(url) == [GET, GONE]


async def test_a_denial_goes_back_to_the_model_in_the_persons_words(
    database: Database, url: str
) -> None:
    model = scripted(calls((GONE, {"customer_id": 12})), "I see.")
    async with studio(database, url, approver="deferred") as toolset:
        run = agent(toolset, model, InMemorySaver())
        (question,) = asked(await run.ainvoke(said("delete customer 12"), THREAD))
        no = reply(question, is_allowed=False, message="Ann is on holiday")
        (end,) = told(await run.ainvoke(Command(resume=no), THREAD))
    assert "The person said: “Ann is on holiday”." in str(end.content)
    assert 12 in customer_numbers(database)


WRONG = [
    "yes",
    True,
    {"allow": True},
    {"allow": True, "number": 1},
    {"server": "crm", "number": 1, "allow": "true"},
    {"server": "crm", "number": True, "allow": True},
    {"server": "crm", "number": 1, "allow": True, "message": 5},
    {"server": "crm", "number": 1, "allow": True, "arguments": {"customer_id": 13}},
    [{"server": "crm", "number": 1, "allow": True}],
]


OTHERS = [
    {"server": "crm", "number": 2, "allow": True},
    {"server": "mail", "number": 1, "allow": True},
]


async def test_what_is_no_answer_to_this_question_approves_nothing_and_asks_again(
    database: Database, url: str
) -> None:
    model = scripted(calls((GONE, {"customer_id": 12})), "Done.")
    async with studio(database, url, approver="deferred") as toolset:
        run = agent(toolset, model, InMemorySaver())
        (first,) = asked(await run.ainvoke(said("delete customer 12"), THREAD))
        for wrong in (*WRONG, *OTHERS):
            (again,) = asked(await run.ainvoke(Command(resume=wrong), THREAD))
            problem = again.pop("problem", "")
            assert again == first
            assert problem.startswith("the answer must be") == (wrong in WRONG)
        assert 12 in customer_numbers(database)
        await run.ainvoke(Command(resume=reply(first, is_allowed=True)), THREAD)
    assert 12 not in customer_numbers(database)


async def test_an_answer_does_not_serve_a_question_that_took_the_place_of_its_own(
    database: Database, url: str
) -> None:
    model = scripted(calls((GONE, {"customer_id": 12})), "Done.")
    async with studio(database, url, approver="deferred") as toolset:
        run = agent(toolset, model, InMemorySaver())
        (old,) = asked(await run.ainvoke(said("delete customer 12"), THREAD))
        await toolset.withdraw()
        yes = Command(resume=reply(old, is_allowed=True))
        (new,) = asked(await run.ainvoke(yes, THREAD))
        assert new["number"] != old["number"]
        assert 12 in customer_numbers(database)
        no = Command(resume=reply(new, is_allowed=False))
        (end,) = told(await run.ainvoke(no, THREAD))
        assert "A person denied this call" in str(end.content)
    assert 12 in customer_numbers(database)
    assert await ran(url) == []


async def test_several_questions_are_answered_by_the_ids_of_their_interrupts(
    database: Database, url: str
) -> None:
    model = scripted(
        calls((GONE, {"customer_id": 12}), (GONE, {"customer_id": 13}), (GET, {"customer_id": 1})),
        "Done.",
    )
    async with studio(database, url, approver="deferred") as toolset:
        run = agent(toolset, model, InMemorySaver())
        paused = await run.ainvoke(said("delete two"), THREAD)
        answers = {
            one.id: reply(one.value, is_allowed=one.value["arguments"]["customer_id"] == 13)
            for one in paused["__interrupt__"]
        }
        assert len(answers) == 2
        end = await run.ainvoke(Command(resume=answers), THREAD)
    assert [one.status for one in told(end)] == ["error", "success", "success"]
    assert 12 in customer_numbers(database)
    assert 13 not in customer_numbers(database)
    assert await ran(url) == [GET, GONE]


async def test_one_of_several_questions_may_be_answered_before_the_others(
    database: Database, url: str
) -> None:
    model = scripted(calls((GONE, {"customer_id": 12}), (GONE, {"customer_id": 13})), "Done.")
    async with studio(database, url, approver="deferred") as toolset:
        run = agent(toolset, model, InMemorySaver())
        first, second = (await run.ainvoke(said("delete two"), THREAD))["__interrupt__"]
        late = {second.id: reply(second.value, is_allowed=True)}
        (left,) = (await run.ainvoke(Command(resume=late), THREAD))["__interrupt__"]
        assert left.value == first.value
        assert {12, 13} - set(customer_numbers(database)) == {13}
        end = await run.ainvoke(Command(resume=reply(left.value, is_allowed=True)), THREAD)
    assert [one.status for one in told(end)] == ["success", "success"]
    assert await ran(url) == [GONE, GONE]


async def test_a_graph_goes_on_in_another_process(database: Database, url: str) -> None:
    saver = InMemorySaver()
    made = calls((GET, {"customer_id": 12}), (GONE, {"customer_id": 12}))
    async with studio(database, url, approver="deferred") as toolset:
        run = agent(toolset, scripted(made), saver)
        (question,) = asked(await run.ainvoke(said("delete customer 12"), THREAD))
    async with studio(database, url, approver="deferred") as toolset:
        run = agent(toolset, scripted("Done."), saver)
        answer = json.loads(json.dumps(reply(question, is_allowed=True)))
        end = await run.ainvoke(Command(resume=answer), THREAD)
    assert end["messages"][-1].content == "Done."
    assert await ran(url) == [GET, GONE]
    assert 12 not in customer_numbers(database)


class Stubborn(AgentMiddleware[Any, Any, Any]):
    """Makes each call twice, as one that tries again would."""

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        await handler(request)
        return await handler(request)


@pytest.mark.parametrize("is_outside", [True, False])
async def test_what_the_framework_tries_again_runs_once(*, url: str, is_outside: bool) -> None:
    shelf = Shelf()
    script = calls(("put", {"item": "a"}), ("put", {"item": "b"}))
    async with shelved(shelf, url) as toolset:
        both: list[Any] = [Stubborn(), GuardMiddleware(toolset)]
        order = both if is_outside else both[::-1]
        run: Any = create_agent(scripted(script, "Done."), middleware=order)
        end = await run.ainvoke(said("put"))
    assert [str(one.content) for one in told(end)] == ["put a", "put b"]
    assert shelf.done == ["put a", "put b"]


async def test_who_waits_for_a_person_blocks_nobody_and_writes_keep_their_order(url: str) -> None:
    shelf, queue = Shelf(), ApprovalQueue()
    model = scripted(
        calls(
            ("drop", {"item": "a"}),
            *(("put", {"item": str(number)}) for number in range(5)),
            ("look", {"item": "x", "together": 2}),
            ("look", {"item": "y", "together": 2}),
        ),
        "Done.",
    )
    async with shelved(shelf, url, approver=queue) as toolset:
        with anyio.fail_after(60):
            run = asyncio.create_task(agent(toolset, model).ainvoke(said("tidy up")))
            one = await queue.take()
            await until(lambda: len(shelf.done) == 7)
            assert [done for done in shelf.done if done.startswith("put")] == [
                f"put {number}" for number in range(5)
            ]
            await one.allow()
            end = await run
    assert shelf.done[-1] == "drop a"
    assert [one.status for one in told(end)] == ["success"] * 8


class Onlooker(BaseCallbackHandler):
    """Delay the first call until the second has begun."""

    def __init__(self) -> None:
        self.second = threading.Event()

    def on_tool_start(self, serialized: Any, input_str: str, **_: Any) -> None:  # noqa: ARG002 - LangChain's
        if "'b'" in input_str:
            self.second.set()
        assert self.second.wait(60)


async def test_writes_keep_their_order_however_long_callbacks_take(url: str) -> None:
    shelf = Shelf()
    script = calls(("put", {"item": "a"}), ("put", {"item": "b"}))
    async with shelved(shelf, url) as toolset:
        await agent(toolset, scripted(script, "Done.")).ainvoke(
            said("put both"), {"callbacks": [Onlooker()]}
        )
        plain = graph(await tools_of(toolset), script, None)
        await plain.ainvoke(said("put both"), {"callbacks": [Onlooker()]})
    assert shelf.done == ["put a", "put b"] * 2


async def test_a_cancelled_run_leaves_no_question_behind(url: str) -> None:
    shelf, queue = Shelf(), ApprovalQueue()
    model = scripted(calls(("drop", {"item": "a"})), "Done.")
    async with shelved(shelf, url, approver=queue) as toolset:
        with anyio.fail_after(60):
            run = asyncio.create_task(agent(toolset, model).ainvoke(said("drop it")))
            one = await queue.take()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            found = await toolset.servers[0].approval(one.approval.number)
    assert found is not None
    assert found.state == "expired"
    assert shelf.done == []


async def test_the_mode_may_be_switched_during_a_run(url: str) -> None:
    shelf = Shelf()
    model = scripted(calls(("put", {"item": "a"})), calls(("put", {"item": "b"}), first=2), "Done.")
    async with shelved(shelf, url) as toolset:
        run = agent(toolset, model, InMemorySaver(), interrupt_after=["tools"])
        await run.ainvoke(said("put both"), THREAD)
        toolset.switch("plan")
        end = await run.ainvoke(None, THREAD)
    assert [one.status for one in told(end)] == ["success", "error"]
    assert shelf.done == ["put a"]


async def test_calls_that_are_wrong_come_back_as_words(url: str) -> None:
    shelf = Shelf()
    unreadable = AIMessage(
        "",
        tool_calls=[{"name": "look", "args": {"item": "a"}, "id": "1", "type": "tool_call"}],
        invalid_tool_calls=[
            {
                "name": "drop",
                "args": '{"item": "b"',
                "id": "2",
                "error": None,
                "type": "invalid_tool_call",
            },
            {
                "name": "look",
                "args": '{"item": "c"}',
                "id": None,
                "error": None,
                "type": "invalid_tool_call",
            },
        ],
    )
    only = AIMessage(
        "",
        invalid_tool_calls=[
            {"name": "drop", "args": "[1]", "id": "3", "error": None, "type": "invalid_tool_call"}
        ],
    )
    model = scripted(unreadable, only, calls(("lok", {"item": "a"}), ("put", {"item": 5})), "Done.")
    async with shelved(shelf, url) as toolset:
        end = await agent(toolset, model).ainvoke(said("look"))
    words = {one.tool_call_id: str(one.content) for one in told(end)}
    assert "this call cannot be read" in words["2"]
    assert "the arguments must be a JSON object" in words["3"]
    assert "Did you mean look" in words["call_1"]
    assert words["call_2"].startswith("Nothing was run")
    assert sorted(shelf.done) == ["look a", "look c"]
    assert end["messages"][-1].content == "Done."


async def test_arguments_may_have_names_that_the_framework_uses(url: str) -> None:
    words = {"config": "a", "runtime": "b", "state": "c", "run_manager": "d"}
    model = scripted(calls(("odd", words)), "Done.")
    async with shelved(Shelf(), url) as toolset:
        (one,) = told(await agent(toolset, model).ainvoke(said("look")))
        run = graph(await tools_of(toolset), calls(("odd", words)), None)
        (plain,) = told(await run.ainvoke(said("look")))
    assert one.content == plain.content == "a b c d"


class Few(sayso.Toolset):
    """A toolset that offers tools by a word of the user's, as a selector would."""

    async def step(self, message: Any = "") -> Any:
        found = await super().step(message)
        chosen = {name: tool for name, tool in found.tools.items() if name in " ".join(message)}
        return Step(self, chosen)


async def test_each_step_has_the_tools_that_the_user_speaks_of_and_no_others(url: str) -> None:
    shelf = Shelf()
    model = scripted(
        calls(("look", {"item": "drop it"}), ("drop", {"item": "a"})),
        "Looked.",
        calls(("drop", {"item": "b"}), first=3),
        "Done.",
    )
    async with shelved(shelf, url, Few, approver=allow) as toolset:
        run = agent(toolset, model, InMemorySaver())
        await run.ainvoke(said("look"), THREAD)
        end = await run.ainvoke(said("now drop one"), THREAD)
    assert model.offered == [["look"], ["look"], ["look", "drop"], ["look", "drop"]]
    assert shelf.done == ["look drop it", "drop b"]
    assert "there is no tool “drop” here" in str(told(end)[1].content)
    first, last = str(model.heard[0][0].content), str(model.heard[-1][0].content)
    assert "drop" not in first
    assert "drop" in last


async def test_what_tools_say_selects_no_tools(url: str) -> None:
    shelf = Shelf()
    for number in range(30):
        shelf.server.add_tool(shelf.odd, name=f"report_{number}", description="Weekly report.")
    model = scripted(calls(("put", {"item": "delete an item"})), "Done.", "Done.", "Done.")
    async with shelved(shelf, url, most=3) as toolset:
        run = agent(toolset, model, InMemorySaver())
        await run.ainvoke(said("put an item on the shelf"), THREAD)
        state = await run.aget_state(THREAD)
        note = HumanMessage("delete an item for good", additional_kwargs={"lc_source": "summary"})
        await run.ainvoke({"messages": [note]}, state.config)
        await run.ainvoke(said("now drop it: delete the item for good"), state.config)
    first, second, third, last = model.offered
    assert "put" in first
    assert len(first) == 3
    assert "drop" not in {*first, *second, *third}
    assert "drop" in last


async def test_a_tool_that_comes_during_a_run_is_there_in_the_next_step(url: str) -> None:
    shelf = Shelf()

    async def grow() -> str:
        shelf.server.add_tool(more, annotations=hinted(readOnlyHint=True))
        for server in toolset.servers:
            server.listing.forget()
        return "grown"

    async def more() -> str:
        return "more"

    shelf.server.add_tool(grow, annotations=hinted(destructiveHint=False))
    model = scripted(calls(("grow", {})), calls(("more", {}), first=2), "Done.")
    async with shelved(shelf, url) as toolset:
        end = await agent(toolset, model).ainvoke(said("grow"))
    assert [str(one.content) for one in told(end)] == ["grown", "more"]
    assert "more" not in model.offered[0]
    assert "more" in model.offered[1]


async def test_other_tools_and_the_programs_own_prompt_stay(url: str) -> None:
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    shelf = Shelf()
    model = scripted(calls(("add", {"a": 1, "b": 2}), ("put", {"item": "a"})), "Done.")
    async with shelved(shelf, url) as toolset:
        run = agent(toolset, model, tools=[add], system_prompt="You are a clerk.")
        end = await run.ainvoke(said("add"))
        assert [str(one.content) for one in told(end)] == ["3", "put a"]
        assert str(model.heard[0][0].content).startswith("You are a clerk.\n\n")
        assert model.offered[0][0] == "add"

        def put(item: str) -> str:
            """Put another item."""
            return item

        with pytest.raises(UsageError, match="two tools are called 'put'"):
            await agent(toolset, scripted("Done."), tools=[put]).ainvoke(said("put"))
        with pytest.raises(UsageError, match="asynchronously only"):
            agent(toolset, scripted("Done.")).invoke(said("put"))


@pytest.mark.parametrize(
    ("module", "missing"), [("langchain", "langchain"), ("langgraph", "langgraph")]
)
@pytest.mark.process
def test_without_the_extra_an_error_names_it(module: str, missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; import sayso.agents.{module}"
    words = [sys.executable, "-c", code]
    ended = subprocess.run(words, check=False, capture_output=True, text=True)
    assert install_command("langchain") in ended.stderr.splitlines()[-1]


@pytest.mark.process
def test_the_example_runs() -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(DOCS / "agents-langchain.py")],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        "This may delete, overwrite or send something: Delete customer 12. Proceed?",
        "Customer 12 is deleted.",
    ]
