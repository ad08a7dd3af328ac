"""The demo's database: one SQLite file, seeded when new, with transactions."""

import sqlite3
import tempfile
import time
from collections import deque
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sayso.demo.schema import APPLICATION_ID, FIRST_VERSION, LATEST_VERSION, TABLES
from sayso.demo.seed import CUSTOMERS, INVOICES, sent_mail
from sayso.errors import StoreError

_AGAIN_SECONDS: Final = 0.01
BUSY_SECONDS: Final = 5.0
"""The time that a transaction waits for another writer."""


@dataclass(frozen=True, slots=True)
class Database:
    """An open database; transactions run on any thread, each with its own connection."""

    path: Path
    _idle: deque[sqlite3.Connection] = field(default_factory=deque[sqlite3.Connection])

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """Open a transaction that reads one consistent state of the data."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """Open the only writing transaction; an exception or cancellation rolls it back."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def close(self) -> None:
        """Close every connection; no transaction may be open."""
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _transaction(self, begin: str) -> Generator[sqlite3.Connection]:
        with self._connection() as connection:
            _begin(connection, begin, self.path)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise

    @contextmanager
    def _connection(self) -> Generator[sqlite3.Connection]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = _connect(self.path)
        try:
            yield connection
        finally:
            self._idle.append(connection)


@contextmanager
def open_database(path: Path | None = None) -> Generator[Database]:
    """Open the database at `path`, created and seeded if it is new; `None` for a temporary one.

    Raises `StoreError` for a file that cannot be opened or belongs to another program.
    """
    with _folder_unless(path) as place:
        try:
            with closing(_connect(place)) as connection:
                _prepare(connection, place)
        except sqlite3.Error as error:
            fix = "Name a writable file, or none for a temporary one."
            what = f"the database cannot be opened: {error}"
            raise StoreError(what, where=str(place), fix=fix) from error
        database = Database(place)
        with closing(database):
            yield database


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the version of the tables, within the open transaction."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


@contextmanager
def _folder_unless(path: Path | None) -> Generator[Path]:
    if path is not None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="sayso-demo-") as folder:
        yield Path(folder) / "studio.db"


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _begin(connection: sqlite3.Connection, begin: str, path: Path) -> None:
    try:
        connection.execute(begin)
    except sqlite3.OperationalError as error:
        fix = "Another process writes to it; try again."
        raise StoreError(f"the database is busy: {error}", where=path.name, fix=fix) from error


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Create and seed the tables unless they exist; reject another program's file."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            _create(connection)
        _check(connection, path)
    _let_readers_read(connection)


def _let_readers_read(connection: sqlite3.Connection) -> None:
    """Set the journal mode in which a writer does not hold up readers.

    SQLite's busy timeout does not apply to this change while another process makes it too.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(_AGAIN_SECONDS)
        else:
            return


def _create(connection: sqlite3.Connection) -> None:
    for table in TABLES:
        connection.execute(table)
    connection.executemany(
        "INSERT INTO customers (name, email, status, since, notes) VALUES (?, ?, ?, ?, ?)",
        CUSTOMERS,
    )
    connection.executemany(
        "INSERT INTO invoices (customer_id, description, amount_cents, status, created_on, sent_on)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        INVOICES,
    )
    connection.executemany(
        "INSERT INTO outbox (invoice_id, sent_to, subject, sent_at) VALUES (?, ?, ?, ?)",
        sent_mail(),
    )
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FIRST_VERSION}")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID:
        fix = "Name another file; this one was not changed."
        raise StoreError("the database belongs to another program", where=str(path), fix=fix)
    if (version := schema_version(connection)) > LATEST_VERSION:
        fix = f"This demo supports versions up to {LATEST_VERSION}; name another file."
        raise StoreError(f"unsupported database version {version}", where=str(path), fix=fix)
