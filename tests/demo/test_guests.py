"""The demo's own agents: what they leave behind for whoever looks first, and how they end."""

import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

import sayso
from sayso.approvals import Answer, Approval
from sayso.beside import beside
from sayso.connect import CommandTarget
from sayso.console.audit.calls import Line
from sayso.demo.guests import BILLING, CALLS, TIDYING, visit
from sayso.gateway import Gateway, open_gateway
from sayso.store.sqlite import open_sqlite

pytestmark = pytest.mark.anyio

SOURCE = str(Path(sayso.__file__).parents[1])
LIMIT = 15


@dataclass
class Opened:
    """A gateway, and whether somebody has been asked there."""

    gateway: Gateway
    asked: anyio.Event

    async def pending(self) -> Approval:
        """The one question that waits, once it does."""
        with anyio.fail_after(LIMIT):
            await self.asked.wait()
        (one,) = await self.gateway.guard.approvals.newest()
        return one

    async def outcomes(self) -> list[tuple[str, str, str]]:
        """Who has called what and how it ended, oldest first."""
        rows = await self.gateway.guard.audit.newest(limit=200)
        lines = [Line.from_row(row) for row in reversed(rows)]
        return [(one["client"], one["tool"], one["outcome"]) for one in lines if one["outcome"]]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncGenerator[Opened]:
    """A gateway before the demo, where nobody is waited for long."""
    server = ("-m", "sayso.demo.server", "--data", str(tmp_path / "demo.db"))
    target = CommandTarget("demo", sys.executable, server, cwd=SOURCE)
    store = open_sqlite(tmp_path / "sayso.db")
    asked = anyio.Event()
    async with open_gateway(
        [target], store, patience=0.1, announce=lambda _: asked.set()
    ) as gateway:
        yield Opened(gateway, asked)
    await store.close()


async def test_there_is_history_of_real_calls_and_one_question_that_waits(
    opened: Opened,
) -> None:
    async with beside(lambda: visit(opened.gateway.guard)):
        question = (await opened.pending()).question

    assert (question.client, question.tool) == (TIDYING, "customer_delete")
    assert question.arguments == {"customer_id": 12}
    told = await opened.outcomes()
    assert [(client, tool) for client, tool, _ in told[: len(CALLS)]] == [
        (client, tool) for client, tool, _ in CALLS
    ]
    assert [kind for _, _, kind in told[: len(CALLS)]].count("tool_error") == 1
    assert {client for client, _, _ in told} == {BILLING, TIDYING}


@pytest.mark.parametrize("is_allowed", [True, False])
async def test_what_a_person_answers_is_what_happens(opened: Opened, *, is_allowed: bool) -> None:
    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            group.start_soon(visit, opened.gateway.guard)
            one = await opened.pending()
            answer = Answer(is_allowed=is_allowed, by="console", channel="console")
            assert await opened.gateway.guard.approvals.answer(one.number, answer)

    told = await opened.outcomes()
    assert ((TIDYING, "customer_delete", "ok") in told) is is_allowed


async def test_it_ends_with_the_gateway(opened: Opened) -> None:
    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            group.start_soon(visit, opened.gateway.guard)
            await opened.pending()
            opened.gateway.guard.shutdown.begin()


async def test_a_server_that_is_not_there_ends_it_without_harm(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "sayso.db")
    target = CommandTarget("demo", "/nowhere/at/all", ())
    async with open_gateway([target], store, patience=0.1) as gateway:
        with anyio.fail_after(LIMIT):
            await visit(gateway.guard)
        assert await gateway.guard.approvals.newest() == []
    await store.close()
