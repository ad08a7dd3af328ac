"""What the tools answer, as types: the SDK makes each tool's `outputSchema` of them.

The class is `typing_extensions`' own because pydantic takes `typing`'s only from Python 3.12 on.
Each is closed: a key that is not named here cannot leave the server.
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
    """All that is known of one customer; `owedCents` is what was sent and is not paid."""

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
    """A customer of the wanted name; `created` is false when there was one already."""

    customerId: int
    name: str
    created: bool


@with_config(CLOSED)
class CustomerDeleted(TypedDict):
    """Whether there was such a customer to delete; `deletedInvoices` only if so."""

    success: bool
    message: str
    deletedInvoices: NotRequired[int]


class CustomerName(TypedDict):
    """Whom a person is asked about."""

    name: str


class CustomerDeletion(TypedDict):
    """What goes with a customer, in words, and what the question names."""

    changes: list[str]
    customer: CustomerName
    invoices: int


class Mail(TypedDict):
    """A mail as it would leave."""

    to: str
    subject: str


class InvoiceDraft(TypedDict):
    """What sending an invoice would do."""

    changes: list[str]
    mail: Mail


@with_config(CLOSED)
class InvoiceDrafted(TypedDict):
    """A new invoice that nobody has been sent yet."""

    invoiceId: int
    customerId: int
    description: str
    amountCents: int
    status: Literal["draft"]


@with_config(CLOSED)
class InvoiceSent(TypedDict):
    """An invoice that has left."""

    invoiceId: int
    status: Literal["sent"]
    sentTo: str


@with_config(CLOSED)
class WebResult(TypedDict):
    """One page that was found; `rank` counts from 1."""

    rank: int
    title: str
    url: str
    snippet: str


@with_config(CLOSED)
class WebResults(TypedDict):
    """The pages that were found, best first. `simulated` says that no network was asked."""

    query: str
    results: list[WebResult]
    simulated: Literal[True]


@with_config(CLOSED)
class MigrationReport(TypedDict):
    """What was done or would be; `lastRun` tells how the run before ended, if there was one."""

    status: MigrationStatus
    dryRun: bool
    fromVersion: int
    toVersion: int
    steps: list[str]
    message: str
    lastRun: NotRequired[str]
