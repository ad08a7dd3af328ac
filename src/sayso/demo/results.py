"""Types of the tools' results, from which the SDK makes each tool's `outputSchema`.

`TypedDict` comes from `typing_extensions`, because pydantic requires that before Python 3.12. The
types are closed: other keys cannot leave the server.
"""

from typing import Final, Literal, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

CLOSED: Final = ConfigDict(extra="forbid")

CustomerStatus = Literal["active", "paused", "closed"]
InvoiceStatus = Literal["draft", "sent", "paid"]
MigrationStatus = Literal["planned", "migrated", "already_migrated"]


@with_config(CLOSED)
class CustomerLine(TypedDict):
    """One customer in a list."""

    customerId: int
    name: str
    email: str
    status: CustomerStatus


@with_config(CLOSED)
class CustomerPage(TypedDict):
    """One page of customers; `total` counts all that match, `nextCursor` is null at the end."""

    customers: list[CustomerLine]
    total: int
    nextCursor: str | None


@with_config(CLOSED)
class InvoiceLine(TypedDict):
    """One invoice of a customer."""

    invoiceId: int
    description: str
    amountCents: int
    status: InvoiceStatus
    createdOn: str
    sentOn: str | None


@with_config(CLOSED)
class CustomerRecord(TypedDict):
    """All data of one customer; `owedCents` is the sum of unpaid sent invoices."""

    customerId: int
    name: str
    email: str
    status: CustomerStatus
    since: str
    notes: list[str]
    invoices: list[InvoiceLine]
    owedCents: int


@with_config(CLOSED)
class CustomerCreated(TypedDict):
    """A customer of the requested name; `created` is false if it existed."""

    customerId: int
    name: str
    created: bool


@with_config(CLOSED)
class CustomerDeleted(TypedDict):
    """The result of a deletion; `deletedInvoices` only if the customer existed."""

    success: bool
    message: str
    deletedInvoices: NotRequired[int]


class CustomerName(TypedDict):
    """The customer that a question names."""

    name: str


class CustomerDeletion(TypedDict):
    """The plan of a deletion, and the facts that its question names."""

    changes: list[str]
    customer: CustomerName
    invoices: int


class Mail(TypedDict):
    """A mail to be sent."""

    to: str
    subject: str


class InvoiceDraft(TypedDict):
    """The plan of sending an invoice."""

    changes: list[str]
    mail: Mail


@with_config(CLOSED)
class InvoiceDrafted(TypedDict):
    """A new invoice that was not sent yet."""

    invoiceId: int
    customerId: int
    description: str
    amountCents: int
    status: Literal["draft"]


@with_config(CLOSED)
class InvoiceSent(TypedDict):
    """An invoice that was sent."""

    invoiceId: int
    status: Literal["sent"]
    sentTo: str


@with_config(CLOSED)
class WebResult(TypedDict):
    """One matching page; `rank` counts from 1."""

    rank: int
    title: str
    url: str
    snippet: str


@with_config(CLOSED)
class WebResults(TypedDict):
    """Matching pages, best first; `simulated` says that no network was used."""

    query: str
    results: list[WebResult]
    simulated: Literal[True]


@with_config(CLOSED)
class MigrationReport(TypedDict):
    """The steps that ran or would run; `lastRun` is the outcome of the previous run."""

    status: MigrationStatus
    dryRun: bool
    fromVersion: int
    toVersion: int
    steps: list[str]
    message: str
    lastRun: NotRequired[str]
