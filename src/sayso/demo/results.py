"""Types of the tools' results, from which the SDK makes each tool's `outputSchema`.

`TypedDict` comes from `typing_extensions`, because pydantic requires that before Python 3.12. The
types are closed: other keys cannot leave the server.
"""

from typing import Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

T = TypeVar("T")


def closed(kind: type[T]) -> type[T]:
    """Set pydantic's configuration of a type, as `pydantic.with_config` does, without pydantic."""
    setattr(kind, "__pydantic_config__", {"extra": "forbid"})  # noqa: B010 - a TypedDict has no such key
    return kind


CustomerStatus = Literal["active", "paused", "closed"]
InvoiceStatus = Literal["draft", "sent", "paid"]
MigrationStatus = Literal["planned", "migrated", "already_migrated"]


@closed
class CustomerLine(TypedDict):
    """One customer in a list."""

    customerId: int
    name: str
    email: str
    status: CustomerStatus


@closed
class CustomerPage(TypedDict):
    """One page of customers; `total` counts all that match, `nextCursor` is null at the end."""

    customers: list[CustomerLine]
    total: int
    nextCursor: str | None


@closed
class InvoiceLine(TypedDict):
    """One invoice of a customer."""

    invoiceId: int
    description: str
    amountCents: int
    status: InvoiceStatus
    createdOn: str
    sentOn: str | None


@closed
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


@closed
class CustomerCreated(TypedDict):
    """A customer of the requested name; `created` is false if it existed."""

    customerId: int
    name: str
    created: bool


@closed
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


@closed
class InvoiceDrafted(TypedDict):
    """A new invoice that was not sent yet."""

    invoiceId: int
    customerId: int
    description: str
    amountCents: int
    status: Literal["draft"]


@closed
class InvoiceSent(TypedDict):
    """An invoice that was sent."""

    invoiceId: int
    status: Literal["sent"]
    sentTo: str


@closed
class WebResult(TypedDict):
    """One matching page; `rank` counts from 1."""

    rank: int
    title: str
    url: str
    snippet: str


@closed
class WebResults(TypedDict):
    """Matching pages, best first; `simulated` says that no network was used."""

    query: str
    results: list[WebResult]
    simulated: Literal[True]


@closed
class MigrationReport(TypedDict):
    """The steps that ran or would run; `lastRun` is the outcome of the previous run."""

    status: MigrationStatus
    dryRun: bool
    fromVersion: int
    toVersion: int
    steps: list[str]
    message: str
    lastRun: NotRequired[str]
