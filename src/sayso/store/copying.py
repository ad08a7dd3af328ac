"""Copying of all rows from one database to another of the same version."""

import contextlib
import sqlite3
from collections.abc import Callable, Generator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from sayso.store.migrations import SQLITE_TYPES, upgrade
from sayso.store.session import Session
from sayso.store.sqlite import APPLICATION_ID, SqliteSession, make_empty

_ROWS: Final = 1000
_LEASED: Final = frozenset({"replicas"})
"""Tables about running processes, which a restored store does not have."""


@cache
def columns_of(version: int) -> Mapping[str, tuple[str, ...]]:
    """Return the columns of each table of a version, as its migrations create them."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        session = SqliteSession(connection)
        upgrade(session, SQLITE_TYPES, 0, upto=version)
        sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        tables = [name for (name,) in session.query(f"{sql} ORDER BY name")]
        sql = "SELECT name FROM pragma_table_info(:name)"
        return {
            table: tuple(name for (name,) in session.query(sql, {"name": table}))
            for table in tables
        }


def count_rows(session: Session, version: int) -> dict[str, int]:
    """Return the number of rows in each table."""
    return {
        table: int(session.query(f'SELECT count(*) FROM "{table}"')[0][0])
        for table in columns_of(version)
    }


def copy_rows(
    source: Session, target: Session, *, version: int, progress: Callable[[int, int], None]
) -> None:
    """Copy all rows, except those about running processes, in the open transactions."""
    tables = {name: cells for name, cells in columns_of(version).items() if name not in _LEASED}
    total = sum(count_rows(source, version).values())
    done = 0
    for table, columns in tables.items():
        names = ", ".join(f'"{column}"' for column in columns)
        places = ", ".join("?" * len(columns))
        insert = f'INSERT INTO "{table}" ({names}) VALUES ({places})'
        for rows in source.pages(f'SELECT {names} FROM "{table}"', _ROWS):
            target.insert(insert, rows)
            done += len(rows)
            progress(done, total)


@contextlib.contextmanager
def new_copy(path: Path, version: int) -> Generator[Session]:
    """Create a SQLite file with the tables of a version; commit what the caller writes to it."""
    make_empty(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        session = SqliteSession(connection)
        session.begin()
        upgrade(session, SQLITE_TYPES, 0, upto=version)
        session.change(f"PRAGMA application_id = {APPLICATION_ID}")
        session.change(f"PRAGMA user_version = {version}")
        yield session
        session.commit()
