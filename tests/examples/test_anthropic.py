"""The example over Anthropic's client.

The client has no offline model: the real client talks to a small API on loopback that says what
the test has written, and refuses what the real one refuses.
"""

from pathlib import Path

import pytest
from examples.agent_anthropic import MAX_STEPS, converse
from tests.agents.office import PHOTO, Office, deny, toolset
from tests.examples.anthropic_api import open_api, text, use
from tests.examples.programs import run_example

pytestmark = pytest.mark.anyio

MODEL = "a-model"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'sayso.db'}"


async def test_an_agent_reads_asks_and_hears_no(url: str) -> None:
    office = Office()
    calls = [text("I look."), use("a", "note_read", number=1), use("b", "note_drop", number=2)]
    async with (
        open_api(calls, [text("It stays.")]) as (client, api),
        toolset(office, url, wrapped={"approver": deny}) as tools,
    ):
        assert await converse(client, MODEL, tools, "Drop note 2") == "It stays."
    assert office.done == [("note_read", 1)]
    first, second = api.bodies
    assert "note_drop" in first["system"]
    assert [one["name"] for one in first["tools"]][:2] == ["note_read", "note_photo"]
    read, drop = second["messages"][2]["content"]
    assert (read["content"], read["is_error"]) == ([text("note_read 1 is done")], False)
    assert drop["is_error"] is True
    assert "A person denied this call" in drop["content"][0]["text"]


async def test_pictures_go_along(url: str) -> None:
    answers = [use("a", "note_photo")], [text("Nice.")]
    async with open_api(*answers) as (client, api), toolset(Office(), url) as tools:
        assert await converse(client, MODEL, tools, "Show me") == "Nice."
    source = {"type": "base64", "media_type": "image/png", "data": PHOTO}
    assert api.bodies[1]["messages"][2]["content"][0]["content"] == [
        text("the notes"),
        {"type": "image", "source": source},
    ]


async def test_a_request_that_is_sent_again_makes_no_call_again(url: str) -> None:
    office = Office()
    answers = 529, [use("a", "note_add", number=1)], 529, [text("Added.")]
    async with open_api(*answers) as (client, api), toolset(office, url) as tools:
        assert await converse(client, MODEL, tools, "Add a note") == "Added."
    assert len(api.bodies) == 4
    assert office.done == [("note_add", 1)]


async def test_calls_of_a_message_that_was_cut_are_not_made(url: str) -> None:
    office = Office()
    cut = "max_tokens", [text("I add"), use("a", "note_add")]
    async with open_api(cut, [text("Well.")]) as (client, api), toolset(office, url) as tools:
        assert await converse(client, MODEL, tools, "Add a note") == "Well."
    assert "length limit" in str(api.bodies[1]["messages"][2]["content"])
    assert office.log == []


async def test_unknown_tools_come_back_as_words(url: str) -> None:
    answers = [use("a", "note_reed", number=1), use("b", "note_read", number="one")], [text("Oh.")]
    async with open_api(*answers) as (client, api), toolset(Office(), url) as tools:
        await converse(client, MODEL, tools, "Read")
    unknown, unfit = api.bodies[1]["messages"][2]["content"]
    assert "Did you mean note_read" in str(unknown["content"])
    assert "do not fit the tool" in str(unfit["content"])
    assert unknown["is_error"]
    assert unfit["is_error"]


async def test_a_model_that_says_nothing_ends_the_loop(url: str) -> None:
    async with open_api([]) as (client, _), toolset(Office(), url) as tools:
        assert not await converse(client, MODEL, tools, "Hello")


async def test_a_model_that_never_stops_is_stopped(url: str) -> None:
    answers = [[use(f"id{n}", "note_read", number=n)] for n in range(MAX_STEPS)]
    async with open_api(*answers) as (client, _), toolset(Office(), url) as tools:
        assert await converse(client, MODEL, tools, "Read") == "Stopped after 20 steps."


@pytest.mark.process
async def test_the_program_runs() -> None:
    asked = [text("I look."), use("a", "customers_get", customer_id=3)]
    async with open_api(asked, [text("That is Cleo.")]) as (client, api):
        given = {"ANTHROPIC_BASE_URL": str(client.base_url), "ANTHROPIC_API_KEY": "none"}
        shown = await run_example("agent_anthropic.py", {**given, "ANTHROPIC_MODEL": MODEL})
    assert shown == "That is Cleo.\n"
    (result,) = api.bodies[1]["messages"][2]["content"]
    assert '"customerId":3' in result["content"][0]["text"].replace(" ", "")
