"""The rows of the seeded world: in its databases, its CSV, its workbook and behind its web API."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

CUSTOMERS: Final = (
    (1, "Ada", "ada@example.com", "London"),
    (2, "Bob", "bob@example.com", "Paris"),
    (3, "Zoë", "zoe@example.com", "Zürich"),
)
ORDERS: Final = (
    (1, 1, "paper", 12.5),
    (2, 1, "ink", 30.0),
    (3, 2, "desk", 240.0),
    (4, 3, "lamp", 45.25),
)
NOTES: Final = ((1, "First", "alpha beta"), (2, "Second", "gamma"), (3, "Third", "delta"))
_TABLES: Final = (
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, city TEXT)",
    """CREATE TABLE orders (
        id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
        item TEXT NOT NULL, total REAL NOT NULL
    )""",
    """CREATE TABLE notes (
        id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL DEFAULT ''
    )""",
    "CREATE INDEX orders_of ON orders (customer_id)",
)


def write_databases(folder: Path) -> None:
    """Write `data.db`, with a journal that rolls back, and `wal.db`, in WAL mode."""
    for name, mode in (("data.db", "DELETE"), ("wal.db", "WAL")):
        with closing(sqlite3.connect(folder / name)) as connection:
            connection.execute(f"PRAGMA journal_mode = {mode}")
            for statement in _TABLES:
                connection.execute(statement)
            connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", CUSTOMERS)
            connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ORDERS)
            connection.executemany("INSERT INTO notes VALUES (?, ?, ?)", NOTES)
            connection.commit()
