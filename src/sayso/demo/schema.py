"""The demo's tables in version 1; `migration` updates them to version 2."""

from typing import Final

APPLICATION_ID: Final = 0x61766F77
"""Marks a file as a database of this demo (`PRAGMA application_id`); it spells "sayso"."""

FIRST_VERSION: Final = 1
LATEST_VERSION: Final = 2

TABLES: Final = (
    """
    CREATE TABLE customers (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE COLLATE NOCASE,
        email TEXT NOT NULL DEFAULT '',
        status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'closed')),
        since TEXT NOT NULL DEFAULT CURRENT_DATE,
        notes TEXT NOT NULL DEFAULT ''
    ) STRICT
    """,
    """
    CREATE TABLE invoices (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
        description TEXT NOT NULL,
        amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
        status TEXT NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'sent', 'paid')),
        created_on TEXT NOT NULL DEFAULT CURRENT_DATE,
        sent_on TEXT CHECK ((sent_on IS NULL) = (status = 'draft'))
    ) STRICT
    """,
    "CREATE INDEX invoices_by_customer ON invoices (customer_id)",
    # Sent mail stays when its invoice is deleted.
    """
    CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        invoice_id INTEGER REFERENCES invoices (id) ON DELETE SET NULL,
        sent_to TEXT NOT NULL,
        subject TEXT NOT NULL,
        sent_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
    ) STRICT
    """,
    """
    CREATE TABLE migration_runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        outcome TEXT NOT NULL CHECK (outcome IN ('migrated', 'cancelled')),
        detail TEXT NOT NULL,
        ended_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
    ) STRICT
    """,
)
