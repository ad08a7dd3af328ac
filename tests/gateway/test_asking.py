"""Asking over the caller's own client and over links: real clients, real HTTP, both eras."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
import uvicorn
from mcp import Client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.gateway.serving import ERAS, running, serve
from tests.gateway.test_main_job import events, pending, staged, text

from sayso.approvals import Approval, LinkChannel, webhook
from sayso.connect import CommandTarget
from sayso.keys import Keyring
from sayso.policy import Policy, load_policy

pytestmark = pytest.mark.anyio

LINK = "http://gateway/console/link?token="
KEYS = Keyring.of([b"k" * 32])
RELAYED = load_policy('[approvals]\nchannels = ["elicitation"]')


def reset(repository: Path) -> dict[str, Any]:
    return {"repo_path": str(repository)}


@dataclass
class Person:
    """Somebody at the client, who answers what the client shows."""

    result: types.ElicitResult
    asked: list[types.ElicitRequestParams] = field(default_factory=list[types.ElicitRequestParams])

    async def __call__(
        self,
        context: Any,  # noqa: ARG002 - as the SDK calls it
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult:
        self.asked.append(params)
        return self.result


YES = types.ElicitResult(action="accept", content={"approve": True})
NOT = types.ElicitResult(action="accept", content={"approve": False})
NO = types.ElicitResult(action="decline")
AWAY = types.ElicitResult(action="cancel")


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_at_the_client_approves_and_it_runs_once(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    person = Person(YES)
    async with (
        serve(git_server, store=tmp_path / "a.db", policy=lambda: RELAYED, keys=KEYS) as served,
        Client(served.url, mode=era, elicitation_callback=person) as client,
    ):
        result = await client.call_tool("git__git_reset", reset(repository))
        (approval,) = await served.gateway.guard.approvals.newest()
        record = json.loads((await served.gateway.guard.audit.newest())[0].body)
    assert not result.is_error, text(result)
    assert staged(repository) == ""
    assert len(person.asked) == 1
    assert "May" in person.asked[0].message
    assert str(repository) in person.asked[0].message
    assert (approval.state, approval.channel) == ("used", "elicitation")
    assert approval.answered_by is not None
    assert approval.answered_by.startswith("a person at ")
    assert record["channel"] == "elicitation"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", [NO, NOT])
async def test_a_person_at_the_client_denies(
    era: str,
    answer: types.ElicitResult,
    git_server: CommandTarget,
    repository: Path,
    tmp_path: Path,
) -> None:
    async with (
        serve(git_server, store=tmp_path / "a.db", policy=lambda: RELAYED, keys=KEYS) as served,
        Client(served.url, mode=era, elicitation_callback=Person(answer)) as client,
    ):
        result = await client.call_tool("git__git_reset", reset(repository))
    assert result.is_error
    assert "A person denied this call" in text(result)
    assert staged(repository) != ""


@pytest.mark.parametrize("era", ERAS)
async def test_a_question_that_is_dismissed_still_waits_and_says_so(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    async with (
        serve(
            git_server, store=tmp_path / "a.db", policy=lambda: RELAYED, keys=KEYS, patience=0.3
        ) as served,
        Client(served.url, mode=era, elicitation_callback=Person(AWAY)) as client,
    ):
        result = await client.call_tool("git__git_reset", reset(repository))
        one = await pending(served)
    assert result.is_error
    assert f"approval {one.number}" in text(result)
    assert staged(repository) != ""


@pytest.mark.parametrize("era", ERAS)
async def test_by_default_a_client_is_led_to_the_console_and_not_asked_to_answer_for_itself(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    person = Person(YES)
    async with (
        serve(git_server, store=tmp_path / "a.db", keys=KEYS, patience=0.2) as served,
        Client(served.url, mode=era, elicitation_callback=person) as client,
    ):
        result = await client.call_tool("git__git_reset", reset(repository))
    assert result.is_error
    assert [one.mode for one in person.asked] == ["url"]
    assert staged(repository) != ""


@pytest.mark.parametrize("era", ERAS)
async def test_where_policy_wants_it_out_of_band_the_clients_yes_runs_nothing(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    strict = load_policy(
        '[approvals]\nchannels = ["console", "elicitation"]\n[[rules]]\nname = "far"\n'
        'effect = "confirm"\nrequire = "out_of_band"\nwhen = { level = "destructive" }'
    )
    person = Person(YES)
    async with (
        serve(
            git_server, store=tmp_path / "a.db", policy=lambda: strict, keys=KEYS, patience=0.2
        ) as served,
        Client(served.url, mode=era, elicitation_callback=person) as client,
    ):
        result = await client.call_tool("git__git_reset", reset(repository))
    assert result.is_error
    assert [one.mode for one in person.asked] == ["url"]
    assert staged(repository) != ""


async def test_a_state_that_the_client_made_up_runs_nothing(
    git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "a.db", policy=lambda: RELAYED, keys=KEYS) as served,
        Client(served.url, mode=ERAS[0], elicitation_callback=Person(YES)) as client,
    ):
        result = await client.session.call_tool(
            "git__git_reset",
            reset(repository),
            input_responses={"io.sayso/approval": YES},
            request_state="made up",
        )
        assert await events(served) == [("asked", None), ("outcome", "denied")]
    assert isinstance(result, types.CallToolResult)
    assert result.is_error
    assert "was not sealed here" in text(result)
    assert staged(repository) != ""


@dataclass
class Chat:
    """A chat that a webhook posts to: a real server that records the posts."""

    url: str
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def message(self) -> dict[str, Any]:
        with anyio.fail_after(60):
            while not self.messages:
                await anyio.sleep(0.005)
        return self.messages[-1]


@asynccontextmanager
async def chat() -> AsyncGenerator[Chat]:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = Chat(f"http://127.0.0.1:{listener.getsockname()[1]}/hook")

        async def hook(request: Request) -> Response:
            found.messages.append(await request.json())
            return Response(status_code=204)

        app = Starlette(routes=[Route("/hook", hook, methods=["POST"])])
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        async with running(server, listener):
            yield found


@dataclass
class Linked:
    """The result of a call whose question was answered by a link."""

    message: dict[str, Any]
    said: str
    said_again: str
    result: types.CallToolResult
    approval: Approval
    posts: int


async def answer_by_link(verdict: str, server: CommandTarget, folder: Path, store: Path) -> Linked:
    policy = load_policy('[approvals.people]\nann = ["lead"]')
    results: list[types.CallToolResult] = []
    async with AsyncExitStack() as stack:
        room = await stack.enter_async_context(chat())
        link = LinkChannel(KEYS, LINK, webhook(room.url), lambda: policy.people)
        served = await stack.enter_async_context(
            serve(server, store=store, policy=lambda: policy, keys=KEYS, channels=[link])
        )
        client = await stack.enter_async_context(Client(served.url))
        base = served.url.removesuffix("/mcp")
        browser = await stack.enter_async_context(
            httpx2.AsyncClient(base_url=base, trust_env=False)
        )

        async def call() -> None:
            results.append(await client.call_tool("git__git_reset", reset(folder)))

        group = await stack.enter_async_context(anyio.create_task_group())
        group.start_soon(call)
        message = await room.message()
        page = await browser.get(message["links"][0]["url"].removeprefix("http://gateway"))
        assert (await pending(served)).number == message["approval"]  # looking answers nothing
        token = re.findall(r'name="token" value="([^"]+)"', page.text)[0]
        form = {"token": token, "verdict": verdict, "message": "not today"}
        said = await browser.post("/console/link", data=form)
        again = await browser.post("/console/link", data=form)
        with anyio.fail_after(60):
            while not results:
                await anyio.sleep(0.005)
        (approval,) = await served.gateway.guard.approvals.newest()
        return Linked(message, said.text, again.text, results[0], approval, len(room.messages))


async def test_a_link_in_a_chat_approves_once(
    git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    found = await answer_by_link("allow", git_server, repository, tmp_path / "a.db")
    assert "May" in found.message["text"]
    assert found.message["links"][0]["person"] == "ann"
    assert "Your answer was recorded" in found.said
    assert "Your answer was recorded" not in found.said_again
    assert (found.approval.answered_by, found.approval.channel) == ("ann", "link")
    assert not found.result.is_error
    assert staged(repository) == ""
    assert found.posts == 1


async def test_a_link_in_a_chat_denies_and_tells_the_agent_why(
    git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    found = await answer_by_link("deny", git_server, repository, tmp_path / "a.db")
    assert found.result.is_error
    assert "not today" in text(found.result)
    assert staged(repository) != ""


async def test_a_link_for_nobody_says_that_it_is_void(
    git_server: CommandTarget, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "a.db", keys=KEYS, policy=Policy) as served,
        httpx2.AsyncClient(base_url=served.url.removesuffix("/mcp"), trust_env=False) as browser,
    ):
        for token in ("", "made.up", KEYS.seal("other", {"number": 1})):
            page = await browser.get("/console/link", params={"token": token})
            assert page.status_code == 410
            said = await browser.post("/console/link", data={"token": token, "verdict": "allow"})
            assert said.status_code == 410
