"""The main job, end to end: real client, real HTTP, real server, both protocol eras."""

import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.gateway.serving import ERAS, Served, serve

from sayso.approvals import Answer, Approval
from sayso.connect import CommandTarget

pytestmark = pytest.mark.anyio


def staged(repository: Path) -> str:
    words = ["git", "-C", str(repository), "diff", "--cached", "--name-only"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


async def pending(served: Served) -> Approval:
    """The one question that waits; bounded, since it must come."""
    with anyio.fail_after(60):
        while True:
            waiting = [
                one
                for one in await served.gateway.guard.approvals.newest()
                if one.state == "pending"
            ]
            if waiting:
                (one,) = waiting
                return one
            await anyio.sleep(0.005)


async def answer(served: Served, *, is_allowed: bool) -> Approval:
    one = await pending(served)
    assert await served.gateway.guard.approvals.answer(
        one.number, Answer(is_allowed=is_allowed, by="console", channel="console")
    )
    return one


async def events(served: Served) -> list[tuple[str, str | None]]:
    import json

    rows = await served.gateway.guard.audit.newest()
    return [(row.event, json.loads(row.body).get("outcome")) for row in reversed(rows)]


def text(result: Any) -> str:
    return "".join(block.text for block in result.content)


@pytest.mark.parametrize("era", ERAS)
async def test_tools_are_listed_with_hints_that_name_their_source(
    era: str, git_server: CommandTarget, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "sayso.db") as served,
        Client(served.url, mode=era) as client,
    ):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        reset = tools["git__git_reset"]
        assert reset.annotations is not None
        assert (reset.annotations.read_only_hint, reset.annotations.destructive_hint) == (
            False,
            True,
        )
        ours = (reset.meta or {})["io.sayso/intent"]
        assert ours["level"] == "destructive"
        assert ours["hints"]["destructive"] == {"value": True, "source": "declared"}
        assert ours["declared"]["destructiveHint"] is True
        status = (tools["git__git_status"].meta or {})["io.sayso/intent"]
        assert status["level"] == "read"


@pytest.mark.parametrize("era", ERAS)
async def test_a_read_runs_at_once(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "sayso.db") as served,
        Client(served.url, mode=era) as client,
    ):
        result = await client.call_tool("git__git_status", {"repo_path": str(repository)})
        assert not result.is_error
        assert "a.txt" in text(result)
        assert await events(served) == [("attempt", None), ("outcome", "ok")]


@pytest.mark.parametrize("era", ERAS)
async def test_a_destructive_call_waits_and_runs_once_after_approval(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "sayso.db") as served,
        Client(served.url, mode=era) as client,
    ):
        results: list[Any] = []

        async def call() -> None:
            arguments = {"repo_path": str(repository)}
            results.append(await client.call_tool("git__git_reset", arguments))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            question = (await pending(served)).question
            assert staged(repository) == "a.txt"
            assert (question.tool, question.level) == ("git_reset", "destructive")
            await answer(served, is_allowed=True)
        assert not results[0].is_error
        assert staged(repository) == ""
        assert await events(served) == [("asked", None), ("attempt", None), ("outcome", "ok")]


@pytest.mark.parametrize("era", ERAS)
async def test_an_approval_serves_one_call_with_the_arguments_it_was_given_for(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "sayso.db", patience=0.2) as served,
        Client(served.url, mode=era) as client,
    ):
        arguments = {"repo_path": str(repository)}
        waited = await client.call_tool("git__git_reset", arguments)
        assert waited.is_error
        first = await answer(served, is_allowed=True)
        assert f"approval {first.number}" in text(waited)

        changed = await client.call_tool("git__git_reset", {"repo_path": f"{repository}/."})
        assert changed.is_error
        assert "Not run yet" in text(changed)
        assert staged(repository) == "a.txt"

        ran = await client.call_tool("git__git_reset", arguments)
        assert not ran.is_error
        assert staged(repository) == ""

        again = await client.call_tool("git__git_reset", arguments)
        assert again.is_error
        assert "Not run yet" in text(again)
        assert f"approval {first.number})" not in text(again)


@pytest.mark.parametrize("era", ERAS)
async def test_a_denied_call_is_a_result_that_says_so_and_stays_denied(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "sayso.db", patience=0.2) as served,
        Client(served.url, mode=era) as client,
    ):
        arguments = {"repo_path": str(repository)}
        await client.call_tool("git__git_reset", arguments)
        await answer(served, is_allowed=False)
        for _ in range(2):
            denied = await client.call_tool("git__git_reset", arguments)
            assert denied.is_error
            assert "denied" in text(denied)
        assert staged(repository) == "a.txt"
        assert (await events(served))[-1] == ("outcome", "denied")


@pytest.mark.parametrize("era", ERAS)
async def test_an_unknown_tool_is_refused_by_name(
    era: str, git_server: CommandTarget, tmp_path: Path
) -> None:
    async with (
        serve(git_server, store=tmp_path / "sayso.db") as served,
        Client(served.url, mode=era) as client,
    ):
        for name in ("git__nothing", "nothing", "git_status"):
            with pytest.raises(MCPError, match=f"Unknown tool: {name}"):
                await client.call_tool(name, {})
        assert await events(served) == [("refused", "unknown_tool")] * 3


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_leaves_while_waiting_runs_nothing_and_leaves_its_question(
    era: str, git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    arguments = {"repo_path": str(repository)}
    async with serve(git_server, store=tmp_path / "sayso.db") as served:
        async with Client(served.url, mode=era) as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "git__git_reset", arguments)
            await pending(served)
            group.cancel_scope.cancel()
        # Answered before the end of the wait is noticed, it would run.
        with anyio.fail_after(60):
            while ("outcome", "cancelled") not in await events(served):
                await anyio.sleep(0.005)
        await answer(served, is_allowed=True)
        assert staged(repository) == "a.txt"

        async with Client(served.url, mode=era) as client:
            result = await client.call_tool("git__git_reset", arguments)
        assert not result.is_error
        assert staged(repository) == ""


async def test_progress_tells_where_a_person_can_answer(
    git_server: CommandTarget, repository: Path, tmp_path: Path
) -> None:
    told: list[str | None] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        assert progress <= (total or 0)
        told.append(message)

    async with (
        serve(git_server, store=tmp_path / "sayso.db", patience=0.2) as served,
        Client(served.url) as client,
    ):
        await client.call_tool(
            "git__git_reset", {"repo_path": str(repository)}, progress_callback=on_progress
        )
    assert told
    assert told[0] is not None
    assert "/console/" in told[0]
