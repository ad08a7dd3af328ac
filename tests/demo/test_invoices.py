from typing import Any

import pytest
from mcp import Client

from sayso.demo.data import Database

pytestmark = pytest.mark.anyio


def outbox(database: Database, invoice: int) -> list[tuple[str, str]]:
    with database.reading() as connection:
        sql = "SELECT sent_to, subject FROM outbox WHERE invoice_id = ?"
        return [tuple(row) for row in connection.execute(sql, (invoice,))]


async def test_a_draft_is_added_and_nothing_is_sent(client: Client, database: Database) -> None:
    arguments = {"customer_id": 2, "description": "Bell stickers", "amount_cents": 9_900}

    answers = [await client.call_tool("invoice_create_draft", arguments) for _ in range(2)]

    assert [one.structured_content for one in answers] == [
        {
            "invoiceId": number,
            "customerId": 2,
            "description": "Bell stickers",
            "amountCents": 9_900,
            "status": "draft",
        }
        for number in (26, 27)
    ]
    assert outbox(database, 26) == []


@pytest.mark.parametrize(
    ("customer", "expected"),
    [(99, "There is no customer 99"), (12, "Customer 12 is closed and gets no more invoices.")],
)
async def test_a_draft_needs_an_open_customer(
    client: Client, said: Any, customer: int, expected: str
) -> None:
    arguments = {"customer_id": customer, "description": "x", "amount_cents": 1}

    assert expected in said(await client.call_tool("invoice_create_draft", arguments))


async def test_a_sent_invoice_is_marked_and_its_mail_is_in_the_outbox(
    client: Client, database: Database
) -> None:
    answer = await client.call_tool("invoice_send", {"invoice_id": 4})

    to = "orders@brindleandoak.example"
    assert answer.structured_content == {"invoiceId": 4, "status": "sent", "sentTo": to}
    assert outbox(database, 4) == [(to, "Invoice 4: Loyalty cards, reprint")]


@pytest.mark.parametrize("invoice", [1, 3])
async def test_an_invoice_that_was_sent_is_not_sent_again(
    client: Client, database: Database, said: Any, invoice: int
) -> None:
    before = outbox(database, invoice)

    text = said(await client.call_tool("invoice_send", {"invoice_id": invoice}))

    assert f"Invoice {invoice} was already sent to Brindle & Oak Bakery on 2026-" in text
    assert "nothing was sent again" in text
    assert outbox(database, invoice) == before


async def test_an_invoice_that_is_not_there_cannot_be_sent(client: Client, said: Any) -> None:
    text = said(await client.call_tool("invoice_send", {"invoice_id": 99}))

    assert "There is no invoice 99" in text


async def test_an_invoice_needs_an_address_to_be_sent(client: Client, said: Any) -> None:
    await client.call_tool("customer_create", {"name": "Quince"})
    draft = {"customer_id": 13, "description": "x", "amount_cents": 1}
    await client.call_tool("invoice_create_draft", draft)

    text = said(await client.call_tool("invoice_send", {"invoice_id": 26}))

    assert "Invoice 26 was not sent: Quince has no address." in text
