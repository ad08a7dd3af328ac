"""The data of a new database: customers and invoices of an invented design studio.

Addresses end in `.example` (RFC 2606). Amounts are in cents.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple


class Customer(NamedTuple):
    """One customer; `notes` has one note per line, as version 1 keeps them."""

    name: str
    email: str
    status: str
    since: str
    notes: str = ""


class Invoice(NamedTuple):
    """One invoice; `customer` is the customer's place in `CUSTOMERS`, from 1."""

    customer: int
    description: str
    amount_cents: int
    status: str
    created_on: str
    sent_on: str | None


CUSTOMERS: Final = (
    Customer(
        "Brindle & Oak Bakery",
        "orders@brindleandoak.example",
        "active",
        "2021-03-08",
        "Prefers matte paper for whatever lies on the counter.\nCall before nine, never after.",
    ),
    Customer(
        "Tallowmere Cycles",
        "workshop@tallowmere-cycles.example",
        "active",
        "2021-09-14",
        "Logo may be used in green or black only.",
    ),
    Customer(
        "Harbourlight Dental",
        "reception@harbourlight-dental.example",
        "active",
        "2022-01-20",
    ),
    Customer(
        "Penrose Lane Books",
        "hello@penroselanebooks.example",
        "active",
        "2022-04-02",
        "Pays within a week, always.\nAsk about the autumn catalogue in August.",
    ),
    Customer(
        "Copperkettle Tea Rooms",
        "kitchen@copperkettle.example",
        "paused",
        "2022-05-30",
        "Closed for rebuilding until spring.",
    ),
    Customer(
        "Northfold Animal Clinic",
        "office@northfold-clinic.example",
        "active",
        "2022-11-11",
        "Two signs, two addresses: check which one before printing.",
    ),
    Customer(
        "Saltmarsh Sailing School",
        "crew@saltmarsh-sailing.example",
        "active",
        "2023-02-17",
        "Season starts in April; everything must be ready by March.",
    ),
    Customer(
        "Juniper Row Florist",
        "shop@juniperrow.example",
        "active",
        "2023-06-05",
    ),
    Customer(
        "Wexcombe Town Museum",
        "director@wexcombe-museum.example",
        "active",
        "2023-08-21",
        "Needs three quotes for anything above 5000 euros.\nInvoices go through the town hall.",
    ),
    Customer(
        "Oddfellow Ceramics",
        "studio@oddfellow-ceramics.example",
        "paused",
        "2024-01-15",
        "Wants to come back with a new range.",
    ),
    Customer(
        "Ferngate Primary School",
        "secretary@ferngate-school.example",
        "active",
        "2024-09-02",
        "No invoices in the holidays: the office is closed.",
    ),
    Customer(
        "Lanternfish Diving Club",
        "treasurer@lanternfish-diving.example",
        "closed",
        "2021-07-01",
        "Dissolved in 2025; keep the files until 2032.",
    ),
)

INVOICES: Final = (
    Invoice(1, "Bread bags, spring design", 84_000, "paid", "2026-02-03", "2026-02-04"),
    Invoice(1, "Opening hours sign", 31_500, "paid", "2026-05-18", "2026-05-18"),
    Invoice(1, "Christmas boxes, two sizes", 126_000, "sent", "2026-10-01", "2026-10-02"),
    Invoice(1, "Loyalty cards, reprint", 18_900, "draft", "2026-11-12", None),
    Invoice(2, "Frame decals for the touring series", 147_500, "paid", "2026-03-11", "2026-03-12"),
    Invoice(2, "Workshop price list", 22_000, "sent", "2026-09-24", "2026-09-25"),
    Invoice(2, "Winter sale posters", 39_900, "draft", "2026-11-16", None),
    Invoice(3, "Waiting room leaflets", 56_000, "paid", "2026-01-29", "2026-01-30"),
    Invoice(3, "Website, second instalment", 280_000, "sent", "2026-10-20", "2026-10-21"),
    Invoice(4, "Autumn catalogue", 214_000, "paid", "2026-09-02", "2026-09-02"),
    Invoice(4, "Bookmarks, four motifs", 27_500, "paid", "2026-09-02", "2026-09-02"),
    Invoice(4, "Window lettering for the poetry week", 33_000, "draft", "2026-11-09", None),
    Invoice(5, "Menu cards, summer", 48_000, "paid", "2026-04-14", "2026-04-15"),
    Invoice(5, "Drafts for the new shop front", 95_000, "draft", "2026-08-07", None),
    Invoice(6, "Appointment cards", 19_800, "paid", "2026-06-10", "2026-06-10"),
    Invoice(6, "Signs for both entrances", 168_000, "sent", "2026-10-13", "2026-10-14"),
    Invoice(7, "Course programme 2026", 132_000, "paid", "2026-02-20", "2026-02-23"),
    Invoice(7, "Sail numbers and boat names", 74_200, "paid", "2026-03-19", "2026-03-20"),
    Invoice(8, "Wrapping paper, wild flowers", 61_000, "sent", "2026-09-08", "2026-09-09"),
    Invoice(9, "Exhibition panels: The Mill", 412_000, "sent", "2026-10-05", "2026-10-06"),
    Invoice(9, "Family guide to the museum", 98_500, "draft", "2026-11-04", None),
    Invoice(10, "Stamp for the base of cups", 24_000, "paid", "2026-01-12", "2026-01-13"),
    Invoice(11, "School magazine, issue 14", 87_000, "sent", "2026-06-22", "2026-06-23"),
    Invoice(11, "Map of the school grounds", 45_500, "draft", "2026-11-18", None),
    Invoice(12, "Farewell booklet", 36_000, "paid", "2025-05-26", "2025-05-27"),
)


class Mail(NamedTuple):
    """One line of the outbox; `invoice` is the invoice's place in `INVOICES`, from 1."""

    invoice: int
    sent_to: str
    subject: str
    sent_at: str


def sent_mail() -> Iterator[Mail]:
    """Yield the mail of each invoice that was sent."""
    for number, invoice in enumerate(INVOICES, start=1):
        if invoice.sent_on is not None:
            email = CUSTOMERS[invoice.customer - 1].email
            subject = f"Invoice {number}: {invoice.description}"
            yield Mail(number, email, subject, f"{invoice.sent_on} 09:00:00")
