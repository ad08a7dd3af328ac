"""The demo where nobody in front of it asks: it shows what would happen, and asks the client."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp_types import ElicitResult

from sayso.demo.data import Database
from sayso.demo.server import build_server

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def asked(
    database: Database, mode: str, questions: list[str], *, yes: bool = True
) -> AsyncGenerator[Client]:
    """A client whose person answers every question alike."""

    async def answer(context: Any, params: Any) -> ElicitResult:
        del context
        questions.append(params.message)
        return ElicitResult(action="accept", content={"approve": yes})

    server = build_server(database, asks=True)
    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        yield client


async def test_a_person_sees_what_goes_with_a_customer(database: Database, mode: str) -> None:
    questions: list[str] = []
    async with asked(database, mode, questions) as client:
        answer = await client.call_tool("customer_delete", {"customer_id": 1})

    assert answer.structured_content is not None, answer
    assert answer.structured_content["deletedInvoices"] == 4
    (question,) = questions
    assert "Delete Brindle & Oak Bakery and its 4 invoices?" in question


async def test_a_draft_is_shown_and_then_sent_as_it_is(database: Database, mode: str) -> None:
    questions: list[str] = []
    async with asked(database, mode, questions) as client:
        answer = await client.call_tool("invoice_send", {"invoice_id": 4})

    assert answer.structured_content is not None, answer
    assert answer.structured_content["sentTo"] == "orders@brindleandoak.example"
    (question,) = questions
    assert "Invoice 4: Loyalty cards, reprint" in question


async def test_who_says_no_keeps_the_customer(database: Database, mode: str, said: Any) -> None:
    async with asked(database, mode, [], yes=False) as client:
        text = said(await client.call_tool("customer_delete", {"customer_id": 1}))
        kept = await client.call_tool("customers_get", {"customer_id": 1})

    assert "Nothing was run." in text
    assert not kept.is_error


async def test_nobody_is_asked_about_what_cannot_be_done(
    database: Database, mode: str, said: Any
) -> None:
    questions: list[str] = []
    async with asked(database, mode, questions) as client:
        text = said(await client.call_tool("invoice_send", {"invoice_id": 1}))

    assert text.startswith("Nothing was run: Invoice 1 was already sent to")
    assert questions == []


async def test_a_dry_run_asks_nobody(database: Database, mode: str) -> None:
    questions: list[str] = []
    async with asked(database, mode, questions) as client:
        planned = await client.call_tool("migrate_database", {"dry_run": True})
        await client.call_tool("migrate_database")

    assert planned.structured_content is not None
    assert planned.structured_content["status"] == "planned"
    assert len(questions) == 1
