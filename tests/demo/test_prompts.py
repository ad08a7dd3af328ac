import pytest
from mcp import Client, MCPError
from mcp_types import PromptReference, ResourceTemplateReference, TextContent

from sayso.demo.data import Database
from sayso.demo.resources import CUSTOMER_URI

pytestmark = pytest.mark.anyio

PROMPT = PromptReference(name="chase_invoice")
CUSTOMER = ResourceTemplateReference(uri=CUSTOMER_URI)


async def test_the_prompt_is_listed_with_its_argument(client: Client) -> None:
    (prompt,) = (await client.list_prompts()).prompts

    assert (prompt.name, prompt.title) == ("chase_invoice", "Chase an invoice")
    assert prompt.arguments is not None
    assert [(one.name, one.required) for one in prompt.arguments] == [("invoice_id", True)]


async def test_the_prompt_asks_for_a_reminder_of_that_invoice(client: Client) -> None:
    (message,) = (await client.get_prompt("chase_invoice", {"invoice_id": "3"})).messages

    assert isinstance(message.content, TextContent)
    assert "Brindle & Oak Bakery (orders@brindleandoak.example)" in message.content.text
    assert '"Christmas boxes, two sizes", over 1260.00 euros' in message.content.text
    assert "sent on 2026-10-02" in message.content.text


@pytest.mark.parametrize("number", ["1", "4", "99", "three"])
async def test_only_an_unpaid_invoice_can_be_chased(client: Client, number: str) -> None:
    with pytest.raises(
        MCPError, match=rf"'{number}' is not an unpaid invoice; unpaid are: 3, 6, 9"
    ):
        await client.get_prompt("chase_invoice", {"invoice_id": number})


async def test_without_unpaid_invoices_there_is_nothing_to_chase(
    client: Client, database: Database
) -> None:
    with database.writing() as connection:
        connection.execute("UPDATE invoices SET status = 'paid' WHERE status = 'sent'")

    with pytest.raises(MCPError, match="unpaid are: none"):
        await client.get_prompt("chase_invoice", {"invoice_id": "3"})


@pytest.mark.parametrize(
    ("reference", "argument", "typed", "expected"),
    [
        (PROMPT, "invoice_id", "", ["3", "6", "9", "16", "19", "20", "23"]),
        (PROMPT, "invoice_id", "1", ["16", "19"]),
        (PROMPT, "invoice_id", "x", []),
        (PROMPT, "colour", "", []),
        (PromptReference(name="other"), "invoice_id", "", []),
        (CUSTOMER, "customer_id", "1", ["1", "10", "11", "12"]),
        (ResourceTemplateReference(uri="other://{customer_id}"), "customer_id", "1", []),
    ],
)
async def test_arguments_are_completed_from_what_is_there(
    client: Client,
    reference: PromptReference | ResourceTemplateReference,
    argument: str,
    typed: str,
    expected: list[str],
) -> None:
    answer = await client.complete(reference, {"name": argument, "value": typed})

    assert answer.completion.values == expected


async def test_a_long_completion_is_cut_and_says_so(client: Client, database: Database) -> None:
    with database.writing() as connection:
        names = [(f"Customer {number}",) for number in range(100)]
        connection.executemany("INSERT INTO customers (name) VALUES (?)", names)

    completion = (await client.complete(CUSTOMER, {"name": "customer_id", "value": ""})).completion

    assert len(completion.values) == 100
    assert (completion.total, completion.has_more) == (112, True)
