"""The tools over customers."""

import re
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from sayso.demo.data import Database, schema_version
from sayso.demo.limits import Limits
from sayso.demo.results import (
    CustomerCreated,
    CustomerDeleted,
    CustomerDeletion,
    CustomerLine,
    CustomerPage,
    CustomerRecord,
    CustomerStatus,
    InvoiceLine,
)
from sayso.demo.schema import FIRST_VERSION
from sayso.errors import SaysoError
from sayso.intent import DELETE, QUERY, UPSERT

if TYPE_CHECKING:
    from sayso.serve import Tools

MAX_NUMBER: Final = 2**53 - 1
"""The largest integer that every JSON parser keeps exact."""
CustomerId = Annotated[
    int, Limits("The customer's number, from customers_list.", ge=1, le=MAX_NUMBER)
]


@dataclass(frozen=True, slots=True)
class CustomerTools:
    """The tools over the customers of one database."""

    database: Database

    def customers_list(
        self,
        status: Annotated[CustomerStatus | None, Limits("Only customers of this status.")] = None,
        query: Annotated[
            str,
            Limits("Only customers whose name or address contains this.", max_length=200),
        ] = "",
        limit: Annotated[int, Limits("How many at most.", ge=1, le=50)] = 10,
        cursor: Annotated[str, Limits("Where to go on: nextCursor of the page before.")] = "",
    ) -> CustomerPage:
        """List the studio's customers, longest known first, a page at a time."""
        wanted = {"status": status, "query": query, "after": _read_cursor(cursor), "limit": limit}
        with self.database.reading() as connection:
            total: int = connection.execute(_COUNT, wanted).fetchone()[0]
            # One more than wanted tells whether there is a next page.
            rows = connection.execute(_PAGE, wanted | {"limit": limit + 1}).fetchall()
        page = [_line(row) for row in rows[:limit]]
        more = f"after-{page[-1]['customerId']}" if len(rows) > limit else None
        return {"customers": page, "total": total, "nextCursor": more}

    def customers_get(self, customer_id: CustomerId) -> CustomerRecord:
        """Get all that is known of one customer: address, notes and invoices."""
        record = find_customer(self.database, customer_id)
        if record is None:
            raise SaysoError(f"There is no customer {customer_id}; customers_list names them all.")
        return record

    def customer_create(
        self,
        name: Annotated[str, Limits("The name.", min_length=1, max_length=120, pattern=r"\S")],
        email: Annotated[
            str,
            Limits("Where invoices go, if known.", max_length=254, pattern=r"^(\S+@\S+)?$"),
        ] = "",
    ) -> CustomerCreated:
        """Create a customer of this name; an existing one is left as it is and returned."""
        name = " ".join(name.split())
        with self.database.writing() as connection:
            inserted = connection.execute(_INSERT, (name, email)).rowcount
            row = connection.execute("SELECT id, name FROM customers WHERE name = ?", (name,))
            found = row.fetchone()
        return {"customerId": found["id"], "name": found["name"], "created": inserted == 1}

    def customer_delete(self, customer_id: CustomerId) -> CustomerDeleted:
        """Delete a customer with all notes and invoices. This cannot be undone."""
        with self.database.writing() as connection:
            invoices = _count_invoices(connection, customer_id)
            deleted = connection.execute("DELETE FROM customers WHERE id = ?", (customer_id,))
        if not deleted.rowcount:
            return {"success": False, "message": f"There is no customer {customer_id}."}
        message = f"Customer {customer_id} is deleted; invoices deleted with it: {invoices}."
        return {"success": True, "message": message, "deletedInvoices": invoices}

    def deletion(self, customer_id: int) -> CustomerDeletion:
        """Return the plan of a deletion, which a person sees first."""
        record = find_customer(self.database, customer_id)
        if record is None:
            raise SaysoError(f"There is no customer {customer_id}.")
        deleted = [f"customer {record['name']}"]
        deleted += [
            f"invoice {invoice['invoiceId']}: {invoice['description']}"
            for invoice in record["invoices"]
        ]
        deleted += [f"note: {note}" for note in record["notes"]]
        return {
            "changes": [f"delete {what}" for what in deleted],
            "customer": {"name": record["name"]},
            "invoices": len(record["invoices"]),
        }


def declare_customers(tools: "Tools", database: Database) -> None:
    """Declare the four tools over customers."""
    own = CustomerTools(database)
    reads = tools.group(category="customers", scopes={"customers.read"})
    reads.tool(QUERY, title="List customers", tags={"page"})(own.customers_list)
    reads.tool(QUERY, title="Get customer", tags={"invoices", "notes"})(own.customers_get)
    writes = tools.group(category="customers", scopes={"customers.write"})
    writes.tool(UPSERT)(own.customer_create)
    writes.tool(
        DELETE.but(idempotent=True),
        tags={"invoices"},
        plan=own.deletion,
        confirm="Delete {customer.name} and its {invoices} invoices?",
    )(own.customer_delete)


def find_customer(database: Database, customer_id: int) -> CustomerRecord | None:
    """Return the customer of this number with notes and invoices, if it exists."""
    with database.reading() as connection:
        row = connection.execute("SELECT * FROM customers WHERE id = ?", (customer_id,)).fetchone()
        if row is None:
            return None
        notes = _notes(connection, row)
        invoices = [_invoice(row) for row in connection.execute(_INVOICES, (customer_id,))]
    owed = sum(invoice["amountCents"] for invoice in invoices if invoice["status"] == "sent")
    line = _line(row)
    return {**line, "since": row["since"], "notes": notes, "invoices": invoices, "owedCents": owed}


def customer_numbers(database: Database) -> list[int]:
    """Return the numbers of all customers."""
    with database.reading() as connection:
        return [row["id"] for row in connection.execute("SELECT id FROM customers ORDER BY id")]


_MATCHES: Final = """
    FROM customers
    WHERE (:status IS NULL OR status = :status)
    AND instr(lower(name || ' ' || email), lower(:query))
"""
_COUNT: Final = f"SELECT count(*) {_MATCHES}"
_PAGE: Final = f"SELECT * {_MATCHES} AND id > :after ORDER BY id LIMIT :limit"
_INSERT: Final = "INSERT INTO customers (name, email) VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
_INVOICES: Final = "SELECT * FROM invoices WHERE customer_id = ? ORDER BY id"


def _read_cursor(cursor: str) -> int:
    if not cursor:
        return 0
    found = re.fullmatch(r"after-([0-9]{1,15})", cursor)
    if found is None:
        raise SaysoError(f"Invalid cursor {cursor!r}; leave it out to start at the beginning.")
    return int(found[1])


def _line(row: sqlite3.Row) -> CustomerLine:
    return {
        "customerId": row["id"],
        "name": row["name"],
        "email": row["email"],
        "status": row["status"],
    }


def _invoice(row: sqlite3.Row) -> InvoiceLine:
    return {
        "invoiceId": row["id"],
        "description": row["description"],
        "amountCents": row["amount_cents"],
        "status": row["status"],
        "createdOn": row["created_on"],
        "sentOn": row["sent_on"],
    }


def _notes(connection: sqlite3.Connection, customer: sqlite3.Row) -> list[str]:
    """Return the notes of a customer, in either version of the database."""
    if schema_version(connection) == FIRST_VERSION:
        text: str = customer["notes"]
        return text.splitlines()
    found = connection.execute(
        "SELECT body FROM notes WHERE customer_id = ? ORDER BY id", (customer["id"],)
    )
    return [row["body"] for row in found]


def _count_invoices(connection: sqlite3.Connection, customer_id: int) -> int:
    found = connection.execute(
        "SELECT count(*) FROM invoices WHERE customer_id = ?", (customer_id,)
    )
    count: int = found.fetchone()[0]
    return count
