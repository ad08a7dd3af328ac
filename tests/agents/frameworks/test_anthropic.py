"""Anthropic's own client with guarded tools.

The client has no offline model: the real client talks to a small API on loopback that says what
the test has written, and refuses what the real one refuses.
"""

import sys
from importlib import import_module
from typing import Any

import pytest
from tests.agents.frameworks.anthropic_api import open_api, text, use
from tests.agents.office import PHOTO, Office, deny, pending, run_example, toolset

from avow.agents import Agent, End, Reply, ToolCall
from avow.agents.anthropic import AnthropicModel, run_calls, tools_of
from avow.errors import UsageError

pytestmark = pytest.mark.anyio

MODEL = "a-model"


@pytest.fixture
def url(tmp_path: Any) -> str:
    return f"sqlite:{tmp_path / 'avow.db'}"


async def test_an_agent_reads_asks_and_hears_no(url: str) -> None:
    office = Office()
    answers = (
        [text("I look."), use("a", "note_read", number=1), use("b", "note_drop", number=2)],
        [text("It stays.")],
        [text("Good.")],
    )
    async with (
        open_api(*answers) as (client, api),
        toolset(office, url, wrapped={"approver": deny}) as tools,
    ):
        agent = Agent(AnthropicModel(client, MODEL), tools, instructions="Be brief.")
        run = await agent.run("Drop note 2")
        assert (run.text, run.end) == ("It stays.", End.DONE)
        assert (await agent.run("Thanks")).text == "Good."
    assert office.done == [("note_read", 1)]
    first, second, third = api.bodies
    assert first["system"].startswith("Be brief.\n\n")
    assert [one["name"] for one in first["tools"]][:2] == ["note_read", "note_photo"]
    read, drop = second["messages"][2]["content"]
    assert (read["content"], read["is_error"]) == ("note_read 1 is done", False)
    assert drop["is_error"] is True
    assert "A person denied this call" in drop["content"]
    assert [one["role"] for one in third["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]


async def test_a_loop_of_ones_own_needs_two_functions(url: str) -> None:
    office = Office()
    answers = [use("a", "note_add", number=1), use("b", "note_photo")], [text("Done.")]
    async with open_api(*answers) as (client, api), toolset(office, url) as tools:
        messages: list[Any] = [{"role": "user", "content": "Add a note"}]
        for _ in range(2):
            step = await tools.step("Add a note")
            message = await client.messages.create(
                model=MODEL,
                max_tokens=1000,
                system=step.prompt,
                tools=tools_of(step),
                messages=messages,
            )
            messages.append({"role": "assistant", "content": message.content})
            messages += await run_calls(step, message)
    assert [one["role"] for one in messages] == ["user", "assistant", "user", "assistant"]
    assert office.done == [("note_add", 1)]
    photo = api.bodies[1]["messages"][2]["content"][1]["content"]
    source = {"type": "base64", "media_type": "image/png", "data": PHOTO}
    assert photo == [text("the notes"), {"type": "image", "source": source}]


async def test_a_request_that_is_sent_again_makes_no_call_again(url: str) -> None:
    office = Office()
    answers = 529, [use("a", "note_add", number=1)], 529, [text("Added.")]
    async with open_api(*answers) as (client, api), toolset(office, url) as tools:
        run = await Agent(AnthropicModel(client, MODEL), tools).run("Add a note")
    assert run.text == "Added."
    assert len(api.bodies) == 4
    assert office.done == [("note_add", 1)]


async def test_calls_of_a_message_that_was_cut_are_not_made(url: str) -> None:
    office = Office()
    cut = "max_tokens", [text("I add"), use("a", "note_add")]
    async with open_api(cut, [text("Well.")], cut) as (client, api), toolset(office, url) as tools:
        run = await Agent(AnthropicModel(client, MODEL), tools).run("Add a note")
        assert run.text == "Well."
        assert "limit of length" in api.bodies[1]["messages"][2]["content"][0]["content"]
        step = await tools.step()
        message = await client.messages.create(
            model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "Add"}]
        )
        (after,) = await run_calls(step, message)
    assert "limit of length" in str(after["content"])
    assert office.log == []


async def test_unknown_tools_come_back_as_words(url: str) -> None:
    answers = [use("a", "note_reed", number=1), use("b", "note_read", number="one")], [text("Oh.")]
    async with open_api(*answers) as (client, api), toolset(Office(), url) as tools:
        await Agent(AnthropicModel(client, MODEL), tools).run("Read")
    unknown, unfit = api.bodies[1]["messages"][2]["content"]
    assert "Did you mean note_read" in unknown["content"]
    assert "do not fit the tool" in unfit["content"]
    assert unknown["is_error"]
    assert unfit["is_error"]


async def test_a_deferred_call_goes_on_with_the_answer(url: str) -> None:
    office = Office()
    answers = [use("a", "note_drop", number=1)], [text("Dropped.")]
    async with (
        open_api(*answers) as (client, api),
        toolset(office, url, wrapped={"approver": "deferred"}) as tools,
    ):
        agent = Agent(AnthropicModel(client, MODEL), tools)
        run = await agent.run("Drop it")
        assert [one.call.id for one in run.waiting] == ["a"]
        assert len(api.bodies) == 1
        assert (await agent.resume({"a": True})).text == "Dropped."
    assert office.done == [("note_drop", 1)]
    assert await pending(url) == []


async def test_a_conversation_that_began_with_another_model_goes_on(url: str) -> None:
    async with open_api([text("Yes.")]) as (client, api), toolset(Office(), url) as tools:
        agent = Agent(AnthropicModel(client, MODEL), tools)
        calls = ToolCall("x", "note_read", '{"number": 1}'), ToolCall("y", "note_read", "{not JSON")

        async def other(*_: Any) -> Reply:
            return Reply("I read.", calls)

        agent.model = other
        agent.max_steps = 1
        await agent.run("Read")
        agent.model = AnthropicModel(client, MODEL)
        assert (await agent.run("And?")).text == "Yes."
    assert api.bodies[0]["messages"][1]["content"] == [
        text("I read."),
        use("x", "note_read", number=1),
        use("y", "note_read"),
    ]


async def test_a_model_that_says_nothing_leaves_a_conversation_that_goes_on(url: str) -> None:
    async with open_api([], [text("Yes.")]) as (client, _), toolset(Office(), url) as tools:
        agent = Agent(AnthropicModel(client, MODEL), tools)
        assert (await agent.run("Hello")).text == ""
        assert (await agent.run("Hello?")).text == "Yes."


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    monkeypatch.delitem(sys.modules, "avow.agents.anthropic")
    with pytest.raises(UsageError, match=r"pip install 'avow\[anthropic\]'"):
        import_module("avow.agents.anthropic")


async def test_the_example_of_the_documents_runs() -> None:
    asked = [text("I look."), use("a", "customers_get", customer_id=3)]
    async with open_api(asked, [text("That is Cleo.")]) as (client, api):
        given = {"ANTHROPIC_BASE_URL": str(client.base_url), "ANTHROPIC_API_KEY": "none"}
        shown = await run_example("agents-anthropic.py", {**given, "ANTHROPIC_MODEL": MODEL})
    assert shown == "That is Cleo.\n"
    (result,) = api.bodies[1]["messages"][2]["content"]
    assert '"customerId":3' in result["content"].replace(" ", "")
