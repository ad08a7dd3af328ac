from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import TextContent

from sayso.demo.data import Database

pytestmark = pytest.mark.anyio


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert isinstance(answer.structured_content, dict)
    return answer.structured_content


async def test_a_list_names_the_first_ten_of_all(client: Client) -> None:
    page = await call(client, "customers_list")

    assert [one["customerId"] for one in page["customers"]] == list(range(1, 11))
    assert page["total"] == 12
    assert page["customers"][0] == {
        "customerId": 1,
        "name": "Brindle & Oak Bakery",
        "email": "orders@brindleandoak.example",
        "status": "active",
    }


async def test_the_pages_together_are_the_whole_list(client: Client) -> None:
    names: list[str] = []
    cursor = ""
    for _ in range(3):
        page = await call(client, "customers_list", limit=5, cursor=cursor)
        names += [one["name"] for one in page["customers"]]
        cursor = page["nextCursor"]

    assert cursor is None
    assert len(set(names)) == len(names) == 12


async def test_a_full_last_page_has_no_next(client: Client) -> None:
    page = await call(client, "customers_list", limit=12)

    assert page["nextCursor"] is None


@pytest.mark.parametrize("cursor", ["after-", "after-x", "12", "after-9999999999999999"])
async def test_a_made_up_cursor_is_refused(client: Client, said: Any, cursor: str) -> None:
    text = said(await client.call_tool("customers_list", {"cursor": cursor}))

    assert f"Invalid cursor {cursor!r}" in text


@pytest.mark.parametrize(("status", "total"), [("active", 9), ("paused", 2), ("closed", 1)])
async def test_a_list_can_be_of_one_status(client: Client, status: str, total: int) -> None:
    page = await call(client, "customers_list", status=status)

    assert page["total"] == total
    assert {one["status"] for one in page["customers"]} == {status}


@pytest.mark.parametrize(
    ("query", "found"), [("BAKERY", [1]), ("@harbourlight", [3]), ("%", []), ("  ", [])]
)
async def test_a_list_can_be_of_what_contains_a_text(
    client: Client, query: str, found: list[int]
) -> None:
    page = await call(client, "customers_list", query=query)

    assert [one["customerId"] for one in page["customers"]] == found


async def test_a_customer_comes_with_notes_and_invoices(client: Client) -> None:
    record = await call(client, "customers_get", customer_id=1)

    assert record["since"] == "2021-03-08"
    assert record["notes"][1] == "Call before nine, never after."
    assert [one["invoiceId"] for one in record["invoices"]] == [1, 2, 3, 4]
    assert record["owedCents"] == 126_000
    assert record["invoices"][3]["sentOn"] is None


async def test_a_customer_without_notes_has_none(client: Client) -> None:
    assert (await call(client, "customers_get", customer_id=3))["notes"] == []


async def test_a_customer_who_is_not_there_is_a_tool_error(client: Client, said: Any) -> None:
    text = said(await client.call_tool("customers_get", {"customer_id": 99}))

    assert "There is no customer 99; customers_list names them all." in text


async def test_to_create_answers_number_name_and_that_it_is_new(client: Client) -> None:
    answer = await call(client, "customer_create", name="  Quince   & Thistle ")

    assert answer == {"customerId": 13, "name": "Quince & Thistle", "created": True}


async def test_to_create_an_existing_name_returns_who_has_it(client: Client) -> None:
    answer = await call(client, "customer_create", name="brindle & oak BAKERY", email="a@b.example")
    record = await call(client, "customers_get", customer_id=1)

    assert answer == {"customerId": 1, "name": "Brindle & Oak Bakery", "created": False}
    assert record["email"] == "orders@brindleandoak.example"


async def test_two_that_create_one_name_at_once_get_one_customer(client: Client) -> None:
    answers: list[dict[str, Any]] = []

    async def create() -> None:
        answers.append(await call(client, "customer_create", name="Quince & Thistle"))

    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(create)

    assert sorted(one["created"] for one in answers) == [False, True]
    assert {one["customerId"] for one in answers} == {13}


async def test_to_delete_takes_the_invoices_too(client: Client, database: Database) -> None:
    answer = await call(client, "customer_delete", customer_id=1)

    assert answer == {
        "success": True,
        "message": "Customer 1 is deleted; invoices deleted with it: 4.",
        "deletedInvoices": 4,
    }
    with database.reading() as connection:
        left = connection.execute("SELECT count(*) FROM invoices WHERE customer_id = 1").fetchone()
        mail = connection.execute("SELECT count(*) FROM outbox WHERE invoice_id IS NULL").fetchone()
    assert (left[0], mail[0]) == (0, 3)


async def test_to_delete_who_is_not_there_says_so_without_an_error(client: Client) -> None:
    await call(client, "customer_delete", customer_id=1)

    answer = await call(client, "customer_delete", customer_id=1)

    assert answer == {"success": False, "message": "There is no customer 1."}


async def test_a_number_is_never_given_twice(client: Client) -> None:
    await call(client, "customer_delete", customer_id=12)

    assert (await call(client, "customer_create", name="New"))["customerId"] == 13


async def test_the_text_says_the_same_as_the_structure(client: Client) -> None:
    answer = await client.call_tool("customer_create", {"name": "Quince"})

    (block,) = answer.content
    assert isinstance(block, TextContent)
    assert '"created": true' in block.text
