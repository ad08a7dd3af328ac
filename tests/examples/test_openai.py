"""The examples over OpenAI's client, for responses and for chat completions.

The client has no offline model: the real client talks to a small API on loopback that says what
the test has written, and refuses what the real one refuses.
"""

from pathlib import Path
from typing import Any

import pytest
from examples import agent_openai_chat, agent_openai_responses
from tests.agents.office import PHOTO, Office, deny, toolset
from tests.examples.openai_api import open_api
from tests.examples.programs import run_example

pytestmark = pytest.mark.anyio

MODEL = "a-model"
both = pytest.mark.parametrize(
    "converse",
    [agent_openai_responses.converse, agent_openai_chat.converse],
    ids=["responses", "chat"],
)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'sayso.db'}"


def sent_results(body: dict[str, Any]) -> list[Any]:
    """What a request tells of calls."""
    if "input" in body:
        return [one["output"] for one in body["input"] if "output" in one]
    return [one["content"] for one in body["messages"] if one["role"] == "tool"]


@both
async def test_an_agent_reads_asks_and_hears_no(converse: Any, url: str) -> None:
    office = Office()
    calls = [("a", "note_read", '{"number": 1}'), ("b", "note_drop", '{"number": 2}')]
    async with (
        open_api(calls, "It stays.") as (client, api),
        toolset(office, url, wrapped={"approver": deny}) as tools,
    ):
        assert await converse(client, MODEL, tools, "Drop note 2") == "It stays."
    assert office.done == [("note_read", 1)]
    assert [len(sent_results(body)) for body in api.bodies] == [0, 2]
    read, drop = sent_results(api.bodies[1])
    assert "note_read 1 is done" in str(read)
    assert "A person denied this call" in str(drop)
    first = api.bodies[0]
    told = first["instructions"] if "input" in first else first["messages"][0]["content"]
    assert "note_drop" in told


async def test_what_the_model_thought_goes_back_to_it(url: str) -> None:
    calls = [("a", "note_read", '{"number": 1}')]
    async with open_api(calls, "Read.") as (client, api), toolset(Office(), url) as tools:
        await agent_openai_responses.converse(client, MODEL, tools, "Read")
    kinds = [one.get("type") for one in api.bodies[1]["input"]]
    assert kinds == [None, "reasoning", "function_call", "function_call_output"]


@both
async def test_arguments_that_are_no_json_come_back_as_words(converse: Any, url: str) -> None:
    office = Office()
    wrong = ["{", "[1]", '{"number": NaN}', '{"number": 1, "number": 2}', "", "null"]
    calls = [(f"id{place}", "note_add", said) for place, said in enumerate(wrong)]
    async with open_api(calls, "Oh.") as (client, api), toolset(office, url) as tools:
        assert await converse(client, MODEL, tools, "Add") == "Oh."
    assert all("Nothing was run" in str(one) for one in sent_results(api.bodies[1]))
    assert office.log == []


@both
async def test_a_request_that_is_sent_again_makes_no_call_again(converse: Any, url: str) -> None:
    office = Office()
    calls = [("a", "note_add", '{"number": 1}')]
    async with open_api(503, calls, 503, "Added.") as (client, api), toolset(office, url) as tools:
        assert await converse(client, MODEL, tools, "Add") == "Added."
    assert len(api.bodies) == 4
    assert office.done == [("note_add", 1)]


async def test_pictures_go_along_over_responses_only(url: str) -> None:
    calls = [("b", "note_photo", "{}")]
    async with open_api(calls, "Nice.") as (client, api), toolset(Office(), url) as tools:
        await agent_openai_responses.converse(client, MODEL, tools, "Show me")
    assert sent_results(api.bodies[1])[0] == [
        {"type": "input_text", "text": "the notes"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PHOTO}"},
    ]
    async with open_api(calls, "Nice.") as (client, api), toolset(Office(), url) as tools:
        await agent_openai_chat.converse(client, MODEL, tools, "Show me")
    assert sent_results(api.bodies[1])[0] == "the notes\n[image: image/png]"


async def test_calls_of_an_answer_that_was_cut_are_not_made(url: str) -> None:
    office = Office()
    calls = [("a", "note_add", '{"number":')]
    cut = {"output": calls, "status": "incomplete"}
    async with open_api(cut, "Well.") as (client, api), toolset(office, url) as tools:
        await agent_openai_responses.converse(client, MODEL, tools, "Add")
        assert "length limit" in str(sent_results(api.bodies[1])[0])
    cut = {"said": calls, "finish_reason": "length"}
    async with open_api(cut, "Well.") as (client, api), toolset(office, url) as tools:
        await agent_openai_chat.converse(client, MODEL, tools, "Add")
        assert "length limit" in sent_results(api.bodies[1])[0]
    assert office.log == []


async def test_a_model_that_fails_is_an_error(url: str) -> None:
    failed = {"output": "", "status": "failed", "error": {"code": "server_error", "message": "no"}}
    async with open_api(failed) as (client, _), toolset(Office(), url) as tools:
        with pytest.raises(RuntimeError, match="no"):
            await agent_openai_responses.converse(client, MODEL, tools, "Hello")


@both
async def test_a_model_that_never_stops_is_stopped(converse: Any, url: str) -> None:
    answers = [[(f"id{n}", "note_read", f'{{"number": {n}}}')] for n in range(20)]
    async with open_api(*answers) as (client, _), toolset(Office(), url) as tools:
        assert await converse(client, MODEL, tools, "Read") == "Stopped after 20 steps."


@pytest.mark.parametrize("name", ["agent_openai_responses.py", "agent_openai_chat.py"])
@pytest.mark.process
async def test_the_program_runs(name: str) -> None:
    asked = [("a", "customers_get", '{"customer_id": 3}')]
    async with open_api(asked, "That is Cleo.") as (client, api):
        given = {"OPENAI_BASE_URL": str(client.base_url), "OPENAI_API_KEY": "none"}
        shown = await run_example(name, {**given, "OPENAI_MODEL": MODEL})
    assert shown == "That is Cleo.\n"
    (result,) = sent_results(api.bodies[1])
    assert "customerId" in str(result)
