"""The demo's resources: a customer, and a page about the demo."""

import json
from typing import TYPE_CHECKING, Any, Final

from sayso.demo.customers import customer_numbers, find_customer
from sayso.demo.data import Database, schema_version
from sayso.demo.migration import last_run

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

ABOUT_URI: Final = "demo://about"
CUSTOMER_URI: Final = "customers://{customer_id}"

ABOUT: Final = """\
The customers and invoices of an invented design studio, kept in a SQLite database.
All data is made up, and nothing leaves this machine: mail goes into the table `outbox`, and
`web_search` searches a local corpus.

Customers: {customers}
Invoices: {invoices}
Mail sent: {mail}
Version of the database: {version}
Last migration: {last_run}
"""


def add_resources(server: "MCPServer[Any]", database: Database) -> None:
    """Add the resources over `database` to `server`."""
    from mcp.server.mcpserver.exceptions import ResourceNotFoundError  # noqa: PLC0415 - an extra

    def about() -> str:
        return describe(database)

    def customer(customer_id: str) -> str:
        text = customer_as_json(database, customer_id)
        if text is None:
            raise ResourceNotFoundError(f"There is no customer {customer_id!r}.")
        return text

    server.resource(
        ABOUT_URI,
        name="about",
        title="About this demo",
        description="What this server is, and what is in its database at the moment.",
        mime_type="text/plain",
    )(about)
    server.resource(
        CUSTOMER_URI,
        name="customer",
        title="Customer",
        description="All that is known of one customer, by number.",
        mime_type="application/json",
    )(customer)


def describe(database: Database) -> str:
    """Return the page about the demo, with the current counts of its database."""
    with database.reading() as connection:
        counts = connection.execute(
            "SELECT (SELECT count(*) FROM customers) AS customers,"
            " (SELECT count(*) FROM invoices) AS invoices,"
            " (SELECT count(*) FROM outbox) AS mail"
        ).fetchone()
        version = schema_version(connection)
        last = last_run(connection)
    return ABOUT.format(**dict(counts), version=version, last_run=last or "none")


def customer_as_json(database: Database, customer_id: str) -> str | None:
    """Return all that is known of a customer as JSON, or `None` without such a customer."""
    known = {str(number): number for number in customer_numbers(database)}
    record = find_customer(database, known.get(customer_id, 0))
    return None if record is None else json.dumps(record, ensure_ascii=False, indent=2)
