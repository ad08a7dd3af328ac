import json

import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS, TextResourceContents

from sayso.demo.data import Database
from sayso.demo.resources import describe

pytestmark = pytest.mark.anyio


async def read(client: Client, uri: str) -> TextResourceContents:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content


async def test_a_page_tells_what_the_demo_is(client: Client) -> None:
    page = await read(client, "demo://about")

    assert page.mime_type == "text/plain"
    assert "Customers: 12\nInvoices: 25\n" in page.text
    assert "Last migration: none" in page.text


async def test_a_customer_can_be_read_as_a_resource(client: Client) -> None:
    content = await read(client, "customers://4")
    record = await client.call_tool("customers_get", {"customer_id": 4})

    assert content.mime_type == "application/json"
    assert json.loads(content.text) == record.structured_content


@pytest.mark.parametrize("number", ["99", "four", "04", "0", "9" * 30])
async def test_a_customer_who_is_not_there_cannot_be_read(client: Client, number: str) -> None:
    with pytest.raises(MCPError, match=f"There is no customer '{number}'") as refused:
        await client.read_resource(f"customers://{number}")

    assert refused.value.code == INVALID_PARAMS


async def test_the_resources_are_listed(client: Client) -> None:
    (about,) = (await client.list_resources()).resources
    (customer,) = (await client.list_resource_templates()).resource_templates

    assert (str(about.uri), about.title) == ("demo://about", "About this demo")
    assert (customer.uri_template, customer.title) == ("customers://{customer_id}", "Customer")


def test_the_page_tells_of_the_last_migration(database: Database) -> None:
    with database.writing() as connection:
        sql = "INSERT INTO migration_runs (outcome, detail) VALUES ('cancelled', 'Cancelled.')"
        connection.execute(sql)

    assert describe(database).rstrip().endswith(": Cancelled.")
