"""Servers' questions during a call reach the client of that call, in all pairs of eras."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from fastmcp import Client as FastClient
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.gateway.asking import ROOT, Person, asking_server
from tests.gateway.serving import ERAS, Served, serve
from tests.gateway.test_main_job import events, text

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module", params=["old", "new"])
def age(request: pytest.FixtureRequest) -> str:
    """Return whether the server is of the handshake eras."""
    return request.param


@pytest.fixture(scope="module", params=["stdio", "http"])
async def served(
    request: pytest.FixtureRequest, age: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Served]:
    """A gateway before a server of either era, over either transport."""
    async with (
        asking_server(request.param, is_old=age == "old") as target,
        serve(target, store=tmp_path_factory.mktemp("store") / "sayso.db") as served,
    ):
        yield served


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.process
async def test_a_form_reaches_the_person_under_the_servers_name(served: Served, era: str) -> None:
    person = Person()
    async with person.client(served.url, era) as client:
        result = await client.call_tool("asking__ask_name")

    assert text(result) == "accept:Amy"
    (form,) = person.asked
    assert form.message == "The server “asking” asks: What is your name?"
    assert form.requested_schema["required"] == ["name"]


async def test_a_page_reaches_the_person_under_the_servers_name(served: Served, era: str) -> None:
    person = Person()
    async with person.client(served.url, era) as client:
        result = await client.call_tool("asking__ask_page")

    assert text(result) == "accept:"
    (page,) = person.asked
    assert page.url == "https://example.com/sign-in"
    assert page.message == "The server “asking” asks: Sign in."


async def test_a_model_is_asked_without_what_was_said_to_others(served: Served, era: str) -> None:
    person = Person()
    async with person.client(served.url, era) as client:
        result = await client.call_tool("asking__ask_model")

    assert text(result) == "hello"
    (wanted,) = person.asked
    assert wanted.max_tokens == 10
    assert wanted.include_context is None


async def test_roots_are_those_of_the_client_that_calls(served: Served, era: str) -> None:
    async with Person().client(served.url, era) as client:
        result = await client.call_tool("asking__ask_roots")

    assert text(result) == ROOT


async def test_one_call_may_ask_several_times_and_is_recorded_as_one(
    served: Served, era: str
) -> None:
    before = len(await events(served))
    async with Person().client(served.url, era) as client:
        result = await client.call_tool("asking__ask_twice")

    assert text(result) == f"accept:Amy {ROOT}"
    assert (await events(served))[before:] == [("attempt", None), ("outcome", "ok")]


async def test_a_prompt_and_a_resource_may_ask_too(served: Served, era: str) -> None:
    async with Person().client(served.url, era) as client:
        prompt: Any = await client.get_prompt("asking__ask_prompt")
        resource: Any = await client.read_resource("asked://name")

    assert prompt.messages[0].content.text == "accept:Amy"
    assert resource.contents[0].text == "accept:Amy"


async def test_a_client_that_cannot_answer_is_not_asked(served: Served, era: str, age: str) -> None:
    async with Client(served.url, mode=era) as client:
        if age == "old":
            result = await client.call_tool("asking__ask_name")
            assert "the client of this call cannot answer elicitation/create" in text(result)
        else:
            with pytest.raises(MCPError, match="cannot answer elicitation/create"):
                await client.call_tool("asking__ask_name")


async def test_fastmcps_client_is_asked_too(served: Served) -> None:
    asked: list[str] = []

    async def elicit(message: str, *_: Any) -> Any:
        asked.append(message)
        return {"name": "Amy"}

    async with FastClient(served.url, elicitation_handler=elicit) as client:
        result = await client.call_tool("asking__ask_name")

    assert text(result) == "accept:Amy"
    assert asked == ["The server “asking” asks: What is your name?"]
