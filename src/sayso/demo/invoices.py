"""The tools over invoices."""

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from sayso.demo.customers import MAX_NUMBER, CustomerId
from sayso.demo.data import Database
from sayso.demo.limits import Limits
from sayso.demo.results import InvoiceDraft, InvoiceDrafted, InvoiceSent, Mail
from sayso.errors import SaysoError
from sayso.intent import APPEND, SEND

if TYPE_CHECKING:
    from sayso.serve import Tools

InvoiceId = Annotated[int, Limits("The invoice's number, from customers_get.", ge=1, le=MAX_NUMBER)]


@dataclass(frozen=True, slots=True)
class InvoiceTools:
    """The tools over the invoices of one database."""

    database: Database

    def invoice_create_draft(
        self,
        customer_id: CustomerId,
        description: Annotated[
            str, Limits("What it is for.", min_length=1, max_length=200, pattern=r"\S")
        ],
        amount_cents: Annotated[
            int, Limits("The amount in cents of a euro.", ge=1, le=100_000_000)
        ],
    ) -> InvoiceDrafted:
        """Add a draft of an invoice for a customer. Nothing is sent; each call adds another."""
        with self.database.writing() as connection:
            _require_open_customer(connection, customer_id)
            added = connection.execute(_INSERT, (customer_id, description, amount_cents))
            number: int = added.fetchone()["id"]
        return {
            "invoiceId": number,
            "customerId": customer_id,
            "description": description,
            "amountCents": amount_cents,
            "status": "draft",
        }

    def invoice_send(self, invoice_id: InvoiceId) -> InvoiceSent:
        """Send an invoice to its customer by mail. What was sent cannot be called back."""
        from sayso.serve import context  # noqa: PLC0415 - without the SDK, `send` is called

        plan = context().plan
        return self.send(invoice_id, None if plan is None else plan.facts["mail"])

    def send(self, invoice_id: int, approved: Mail | None = None) -> InvoiceSent:
        """Send an invoice, if the mail is still the one that a person approved."""
        with self.database.writing() as connection:
            mail = _mail(_require_draft(connection, invoice_id))
            if approved not in (None, mail):
                raise SaysoError(f"Invoice {invoice_id} changed after it was approved; not sent.")
            connection.execute(_MARK_SENT, (invoice_id,))
            connection.execute(_POST, (invoice_id, mail["to"], mail["subject"]))
        return {"invoiceId": invoice_id, "status": "sent", "sentTo": mail["to"]}

    def draft(self, invoice_id: int) -> InvoiceDraft:
        """Return the mail that sending would send, for the approval."""
        with self.database.reading() as connection:
            mail = _mail(_require_draft(connection, invoice_id))
        return {"changes": [f"mail to {mail['to']}: {mail['subject']}"], "mail": mail}


def declare_invoices(tools: "Tools", database: Database) -> None:
    """Declare the two tools over invoices."""
    own = InvoiceTools(database)
    writes = tools.group(category="invoices", scopes={"customers.write"})
    writes.tool(APPEND, title="Create invoice draft", tags={"draft"})(own.invoice_create_draft)
    writes.tool(SEND, tags={"mail"}, plan=own.draft, confirm="Send “{mail.subject}” to {mail.to}?")(
        own.invoice_send
    )


def unpaid_invoices(database: Database) -> list[sqlite3.Row]:
    """Return the unpaid sent invoices, each with its customer's name and address."""
    with database.reading() as connection:
        return connection.execute(f"{_WITH_CUSTOMER} WHERE invoices.status = 'sent'").fetchall()


_INSERT: Final = """
    INSERT INTO invoices (customer_id, description, amount_cents) VALUES (?, ?, ?) RETURNING id
"""
_MARK_SENT: Final = "UPDATE invoices SET status = 'sent', sent_on = CURRENT_DATE WHERE id = ?"
_POST: Final = "INSERT INTO outbox (invoice_id, sent_to, subject) VALUES (?, ?, ?)"
_WITH_CUSTOMER: Final = """
    SELECT invoices.*, customers.name, customers.email
    FROM invoices JOIN customers ON customers.id = customer_id
"""


def _mail(invoice: sqlite3.Row) -> Mail:
    return {"to": invoice["email"], "subject": f"Invoice {invoice['id']}: {invoice['description']}"}


def _require_open_customer(connection: sqlite3.Connection, customer_id: int) -> None:
    found = connection.execute("SELECT status FROM customers WHERE id = ?", (customer_id,))
    customer = found.fetchone()
    if customer is None:
        raise SaysoError(f"There is no customer {customer_id}; customers_list names them all.")
    if customer["status"] == "closed":
        raise SaysoError(f"Customer {customer_id} is closed and gets no more invoices.")


def _require_draft(connection: sqlite3.Connection, invoice_id: int) -> sqlite3.Row:
    """Return the invoice if it can be sent. Raises `SaysoError` with the reason if not."""
    found = connection.execute(f"{_WITH_CUSTOMER} WHERE invoices.id = ?", (invoice_id,))
    invoice: sqlite3.Row | None = found.fetchone()
    if invoice is None:
        raise SaysoError(f"There is no invoice {invoice_id}; customers_get names a customer's.")
    if invoice["status"] != "draft":
        when = invoice["sent_on"]
        to = invoice["name"]
        raise SaysoError(
            f"Invoice {invoice_id} was already sent to {to} on {when}; nothing was sent again."
        )
    if not invoice["email"]:
        raise SaysoError(f"Invoice {invoice_id} was not sent: {invoice['name']} has no address.")
    return invoice
