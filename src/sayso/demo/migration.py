"""The migration to version 2: notes move from a column of `customers` to their own table."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sayso.demo.data import schema_version
from sayso.demo.schema import LATEST_VERSION

Progress = Callable[[int, str], None]
"""A callback with the number of finished steps and the last one; it may raise to cancel."""


class CancelledMigrationError(Exception):
    """A migration that the caller has cancelled."""


class BrokenReferenceError(Exception):
    """A row that refers to a missing row, which prevents the migration."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its description and its function."""

    what: str
    run: Callable[[sqlite3.Connection], object]


def is_migrated(connection: sqlite3.Connection) -> bool:
    """Return whether the database has the latest version."""
    return schema_version(connection) == LATEST_VERSION


def migrate(connection: sqlite3.Connection, progress: Progress) -> None:
    """Run all steps within the open transaction; exceptions of `progress` propagate."""
    for count, step in enumerate(STEPS, start=1):
        step.run(connection)
        progress(count, step.what)
    connection.execute(f"PRAGMA user_version = {LATEST_VERSION}")
    record_run(connection, "migrated", f"Migrated to version {LATEST_VERSION}.")


def record_run(connection: sqlite3.Connection, outcome: str, detail: str) -> None:
    """Record the outcome of a run."""
    sql = "INSERT INTO migration_runs (outcome, detail) VALUES (?, ?)"
    connection.execute(sql, (outcome, detail))


def last_run(connection: sqlite3.Connection) -> str | None:
    """Return the time (UTC) and outcome of the last run, if there was one."""
    row = connection.execute("SELECT * FROM migration_runs ORDER BY id DESC LIMIT 1").fetchone()
    return None if row is None else f"{row['ended_at']}: {row['detail']}"


def _statement(sql: str) -> Callable[[sqlite3.Connection], object]:
    return lambda connection: connection.execute(sql)


def _move_notes(connection: sqlite3.Connection) -> None:
    rows = connection.execute("SELECT id, notes FROM customers ORDER BY id").fetchall()
    notes = [(row["id"], line) for row in rows for line in row["notes"].splitlines()]
    connection.executemany("INSERT INTO notes (customer_id, body) VALUES (?, ?)", notes)


def _check_references(connection: sqlite3.Connection) -> None:
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise BrokenReferenceError(f"Row {broken['rowid']} of {broken['table']} refers to nothing")


_CREATE_NOTES: Final = """
    CREATE TABLE notes (
        id INTEGER PRIMARY KEY,
        customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
        body TEXT NOT NULL
    ) STRICT
"""

STEPS: Final = (
    Step("create the table notes", _statement(_CREATE_NOTES)),
    Step("copy every customer's notes into it", _move_notes),
    Step("drop the column customers.notes", _statement("ALTER TABLE customers DROP COLUMN notes")),
    Step("index it", _statement("CREATE INDEX notes_by_customer ON notes (customer_id)")),
    Step("check all references", _check_references),
)
