"""URL elicitation through a gateway: real clients, real HTTP, its own console, both eras."""

import json
import re
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from tests.connect.serving import raw_client
from tests.gateway.serving import ERAS, serve
from tests.gateway.test_asking import KEYS, reset
from tests.gateway.test_main_job import staged, text
from tests.visiting import Visitor, logged_in, open_questions

from sayso.connect import CommandTarget

pytestmark = pytest.mark.anyio

PAGE = re.compile(r"http://127\.0\.0\.1:\d+/console/approvals/\d+")


async def call_and_visit(client: Client, folder: Path, visitor: Visitor) -> types.CallToolResult:
    """A call whose person answers on the page meanwhile."""
    results: list[types.CallToolResult] = []

    async def call() -> None:
        results.append(await client.call_tool("git__git_reset", reset(folder)))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await visitor.visit()
    return results[0]


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_approves_on_the_page_and_it_runs_once(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "a.db", keys=KEYS) as served,
        logged_in(served) as browser,
    ):
        visitor = Visitor(browser=browser)
        listening: dict[str, Any] = {"message_handler": visitor.hear}
        async with Client(
            served.url, mode=era, elicitation_callback=visitor, **listening
        ) as client:
            result = await call_and_visit(client, repository, visitor)
        (approval,) = await served.gateway.guard.approvals.newest()
        record = json.loads((await served.gateway.guard.audit.newest())[0].body)
    assert not result.is_error, text(result)
    assert staged(repository) == ""
    (asked,) = visitor.asked
    assert PAGE.fullmatch(asked.url)
    assert str(repository) in asked.message
    assert (approval.state, approval.channel, approval.answered_by) == (
        "used",
        "console",
        "console",
    )
    assert record["channel"] == "console"
    # Only clients of 2025-11-25 know an id, and get a message when its page is done.
    ids = [asked.elicitation_id] if era == "legacy" else []
    assert visitor.told == ids
    assert asked.elicitation_id is None or era == "legacy"


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_denies_on_the_page(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "a.db", keys=KEYS) as served,
        logged_in(served) as browser,
    ):
        visitor = Visitor(browser=browser, verdict="deny")
        async with Client(served.url, mode=era, elicitation_callback=visitor) as client:
            result = await call_and_visit(client, repository, visitor)
    assert "A person denied this call" in text(result)
    assert staged(repository) != ""


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["accept", "cancel"])
async def test_a_client_that_agrees_at_once_while_nobody_visits_runs_nothing(
    era: str, action: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    visitor = Visitor(action)
    async with (
        serve(git_server, store=tmp_path / "a.db", keys=KEYS, patience=0.3) as served,
        Client(served.url, mode=era, elicitation_callback=visitor) as client,
    ):
        result = await client.call_tool("git__git_reset", reset(repository))
        assert await open_questions(served.gateway.guard.approvals) == [1]
    assert result.is_error
    assert "Not run yet" in text(result)
    assert "approval 1" in text(result)
    assert len(visitor.asked) == 1
    assert staged(repository) != ""


@pytest.mark.parametrize("era", ERAS)
async def test_declining_to_open_it_ends_the_call_at_once_and_approves_and_denies_nothing(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "a.db", keys=KEYS, patience=300) as served,
        Client(served.url, mode=era, elicitation_callback=Visitor("decline")) as client,
    ):
        with anyio.fail_after(60):
            result = await client.call_tool("git__git_reset", reset(repository))
        assert await open_questions(served.gateway.guard.approvals) == [1]
    assert result.is_error
    assert "the person at the client did not open the page" in text(result)
    assert staged(repository) != ""


async def test_an_agent_that_fetches_the_page_itself_sees_and_answers_nothing(
    git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    visitor = Visitor()
    async with (
        serve(git_server, store=tmp_path / "a.db", keys=KEYS, patience=0.1) as served,
        Client(served.url, mode=ERAS[0], elicitation_callback=visitor) as client,
        httpx2.AsyncClient(trust_env=False, follow_redirects=True) as agent,
    ):
        await client.call_tool("git__git_reset", reset(repository))
        url = visitor.asked[0].url
        for sent in (
            await agent.get(url),
            await agent.head(url),
            await agent.get(url, params={"verdict": "allow"}),
            await agent.post(f"{url}/answer", data={"verdict": "allow", "csrf": "x"}),
            await agent.get(f"{url}/answer", params={"verdict": "allow"}),
        ):
            assert sent.status_code in (401, 405)
            assert "git_reset" not in sent.text
            assert str(repository) not in sent.text
            assert "set-cookie" not in sent.headers
        assert await open_questions(served.gateway.guard.approvals) == [1]
        again = await client.call_tool("git__git_reset", reset(repository))
    assert again.is_error
    assert staged(repository) != ""


def led(messages: list[dict[str, Any]]) -> list[str]:
    """The modes in which a client was asked, in whichever era."""
    requests = [one for one in messages if one.get("method") == "elicitation/create"]
    rounds: dict[str, Any] = messages[-1].get("result", {}).get("inputRequests", {})
    return [one["params"]["mode"] for one in [*requests, *rounds.values()]]


@pytest.mark.parametrize(
    ("era", "capability", "modes"),
    [
        ("2026-07-28", {}, []),
        ("2026-07-28", {"form": {}}, []),
        ("2026-07-28", {"url": {}}, ["url"]),
        ("2026-07-28", {"form": {}, "url": {}}, ["url"]),
        ("2026-07-28", {"url": None}, []),
        ("2026-07-28", None, []),
        ("2026-07-28", True, []),
        ("2025-11-25", {}, []),
        ("2025-11-25", {"form": {}}, []),
        ("2025-11-25", {"url": {}}, ["url"]),
        ("2025-11-25", {"form": {}, "url": {}}, ["url"]),
        ("2025-06-18", {}, []),
        ("2025-06-18", {"url": {}}, []),
    ],
)
async def test_a_client_is_only_led_there_where_it_says_that_it_can(
    era: str,
    capability: Any,
    modes: list[str],
    git_server: CommandTarget,
    repository: Path,
    tmp_path: Path,
) -> None:
    async with (
        serve(git_server, store=tmp_path / "a.db", keys=KEYS, patience=0.1) as served,
        raw_client(served.url, era, capabilities={"elicitation": capability}) as client,
    ):
        params = {"name": "git__git_reset", "arguments": reset(repository)}
        assert led(await client.messages("tools/call", params)) == modes
    assert staged(repository) != ""
