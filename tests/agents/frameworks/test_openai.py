"""OpenAI's own client with guarded tools, over responses and over chat completions.

The client has no offline model: the real client talks to a small API on loopback that says what
the test has written, and refuses what the real one refuses.
"""

import sys
from importlib import import_module
from typing import Any

import pytest
from tests.agents.frameworks.openai_api import open_api
from tests.agents.office import PHOTO, Office, deny, pending, run_example, toolset

from avow.agents import Agent, End, Reply, ToolCall, openai, openai_chat
from avow.agents.openai import OpenAIModel
from avow.agents.openai_chat import OpenAIChatModel
from avow.errors import UnreachableError, UsageError

pytestmark = pytest.mark.anyio

MODEL = "a-model"
Kind = type[OpenAIModel] | type[OpenAIChatModel]
both = pytest.mark.parametrize("kind", [OpenAIModel, OpenAIChatModel])


@pytest.fixture
def url(tmp_path: Any) -> str:
    return f"sqlite:{tmp_path / 'avow.db'}"


def sent_results(body: dict[str, Any]) -> list[Any]:
    """What a request tells of calls."""
    if "input" in body:
        return [one["output"] for one in body["input"] if "output" in one]
    return [one["content"] for one in body["messages"] if one["role"] == "tool"]


@both
async def test_an_agent_reads_asks_and_hears_no(kind: Kind, url: str) -> None:
    office = Office()
    calls = [("a", "note_read", '{"number": 1}'), ("b", "note_drop", '{"number": 2}')]
    async with (
        open_api(calls, "It stays.", "Good.") as (client, api),
        toolset(office, url, wrapped={"approver": deny}) as tools,
    ):
        agent = Agent(kind(client, MODEL), tools, instructions="Be brief.")
        run = await agent.run("Drop note 2")
        assert (run.text, run.end) == ("It stays.", End.DONE)
        assert (await agent.run("Thanks")).text == "Good."
    assert office.done == [("note_read", 1)]
    assert [len(sent_results(body)) for body in api.bodies] == [0, 2, 2]
    read, drop = sent_results(api.bodies[1])
    assert read == "note_read 1 is done"
    assert "A person denied this call" in drop
    first = api.bodies[0]
    told = first["instructions"] if "input" in first else first["messages"][0]["content"]
    assert told.startswith("Be brief.\n\n")


async def test_what_the_model_thought_goes_back_to_it(url: str) -> None:
    calls = [("a", "note_read", '{"number": 1}')]
    async with open_api(calls, "Read.") as (client, api), toolset(Office(), url) as tools:
        await Agent(OpenAIModel(client, MODEL, store=False), tools).run("Read")
    kinds = [one.get("type") for one in api.bodies[1]["input"]]
    assert kinds == [None, "reasoning", "function_call", "function_call_output"]
    assert api.bodies[0]["store"] is False


@both
async def test_arguments_that_are_no_json_come_back_as_words(kind: Kind, url: str) -> None:
    office = Office()
    wrong = ["{", "[1]", '{"number": NaN}', '{"number": 1, "number": 2}', "", "null"]
    calls = [(f"id{place}", "note_add", said) for place, said in enumerate(wrong)]
    async with open_api(calls, "Oh.") as (client, api), toolset(office, url) as tools:
        assert (await Agent(kind(client, MODEL), tools).run("Add")).text == "Oh."
    assert all("Nothing was run" in one for one in sent_results(api.bodies[1]))
    assert office.log == []


@both
async def test_a_request_that_is_sent_again_makes_no_call_again(kind: Kind, url: str) -> None:
    office = Office()
    calls = [("a", "note_add", '{"number": 1}')]
    async with open_api(503, calls, 503, "Added.") as (client, api), toolset(office, url) as tools:
        assert (await Agent(kind(client, MODEL), tools).run("Add")).text == "Added."
    assert len(api.bodies) == 4
    assert office.done == [("note_add", 1)]


async def test_a_loop_of_ones_own_over_responses(url: str) -> None:
    office = Office()
    calls = [("a", "note_add", '{"number": 1}'), ("b", "note_photo", "{}")]
    async with open_api(calls, "Done.") as (client, api), toolset(office, url) as tools:
        items: list[Any] = [{"role": "user", "content": "Add a note"}]
        for _ in range(2):
            step = await tools.step("Add a note")
            response = await client.responses.create(
                model=MODEL, instructions=step.prompt, tools=openai.tools_of(step), input=items
            )
            items += response.output
            items += await openai.run_calls(step, response)
    assert [one.type for one in items[1:] if not isinstance(one, dict)][-1] == "message"
    assert office.done == [("note_add", 1)]
    assert sent_results(api.bodies[1])[1] == [
        {"type": "input_text", "text": "the notes"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PHOTO}"},
    ]


async def test_a_loop_of_ones_own_over_chat_completions(url: str) -> None:
    office = Office()
    calls = [("a", "note_add", '{"number": 1}'), ("b", "note_photo", "{}")]
    async with open_api(calls, "Done.") as (client, api), toolset(office, url) as tools:
        messages: list[Any] = [{"role": "user", "content": "Add a note"}]
        for _ in range(2):
            step = await tools.step("Add a note")
            completion = await client.chat.completions.create(
                model=MODEL, tools=openai_chat.tools_of(step), messages=messages
            )
            message = completion.choices[0].message
            messages.append(message.model_dump(include={"role", "content", "tool_calls"}))
            messages += await openai_chat.run_calls(step, message)
    assert messages[-1]["content"] == "Done."
    assert office.done == [("note_add", 1)]
    # Messages of tools hold text only.
    assert sent_results(api.bodies[1])[1] == "the notes\n[image: image/png]"


async def test_calls_of_an_answer_that_was_cut_are_not_made(url: str) -> None:
    office = Office()
    calls = [("a", "note_add", '{"number":')]
    cut = {"output": calls, "status": "incomplete"}
    async with open_api(cut, "Well.") as (client, api), toolset(office, url) as tools:
        await Agent(OpenAIModel(client, MODEL), tools).run("Add")
        assert "limit of length" in sent_results(api.bodies[1])[0]
    cut = {"said": calls, "finish_reason": "length"}
    async with open_api(cut, "Well.") as (client, api), toolset(office, url) as tools:
        await Agent(OpenAIChatModel(client, MODEL), tools).run("Add")
        assert "limit of length" in sent_results(api.bodies[1])[0]
    assert office.log == []


async def test_a_model_that_fails_is_an_error(url: str) -> None:
    failed = {"output": "", "status": "failed", "error": {"code": "server_error", "message": "no"}}
    async with open_api(failed) as (client, _), toolset(Office(), url) as tools:
        agent = Agent(OpenAIModel(client, MODEL), tools)
        with pytest.raises(UnreachableError, match="a-model: the model failed: no"):
            await agent.run("Hello")


@both
async def test_a_deferred_call_goes_on_with_the_answer(kind: Kind, url: str) -> None:
    office = Office()
    calls = [("a", "note_drop", '{"number": 1}')]
    async with (
        open_api(calls, "Dropped.") as (client, api),
        toolset(office, url, wrapped={"approver": "deferred"}) as tools,
    ):
        agent = Agent(kind(client, MODEL), tools)
        run = await agent.run("Drop it")
        assert [one.call.id for one in run.waiting] == ["a"]
        assert len(api.bodies) == 1
        assert (await agent.resume({"a": True})).text == "Dropped."
    assert office.done == [("note_drop", 1)]
    assert await pending(url) == []


@both
async def test_a_conversation_that_began_with_another_model_goes_on(kind: Kind, url: str) -> None:
    async with open_api("Yes.") as (client, _), toolset(Office(), url) as tools:

        async def other(*_: Any) -> Reply:
            calls = ToolCall("x", "note_read", {"number": 1}), ToolCall("y", "note_read", "{not")
            return Reply("I read.", calls)

        agent = Agent(other, tools, max_steps=1)
        await agent.run("Read")
        agent.model = kind(client, MODEL)
        assert (await agent.run("And?")).text == "Yes."


@pytest.mark.parametrize("name", ["openai", "openai_chat"])
def test_without_the_extra_the_error_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    for module in ("openai", "openai_chat"):
        monkeypatch.delitem(sys.modules, f"avow.agents.{module}")
    with pytest.raises(UsageError, match=r"pip install 'avow\[openai\]'"):
        import_module(f"avow.agents.{name}")


async def test_the_example_of_the_documents_runs() -> None:
    asked = [("a", "customers_get", '{"customer_id": 3}')]
    async with open_api(asked, "That is Cleo.") as (client, api):
        given = {"OPENAI_BASE_URL": str(client.base_url), "OPENAI_API_KEY": "none"}
        shown = await run_example("agents-openai.py", {**given, "OPENAI_MODEL": MODEL})
    assert shown == "That is Cleo.\n"
    (result,) = sent_results(api.bodies[1])
    assert '"customerId":3' in result.replace(" ", "")
