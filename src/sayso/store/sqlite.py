"""The SQLite driver: one file in WAL mode, synced on each commit."""

import contextlib
import errno
import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from sayso.errors import StoreError
from sayso.store.database import Database
from sayso.store.migrations import SQLITE_TYPES, VERSION, check_version, upgrade
from sayso.store.session import Row, Session

_BUSY_SECONDS: Final = 5.0
_MODE: Final = 0o600
_COPY_PAGES: Final = 1000
"""Pages of the file that are copied between two reports of progress."""
_LOOKS: Final = 3
_LOOK_SECONDS: Final = 0.02
APPLICATION_ID: Final = 0x61766F77
"""The application id of sayso's files (SQLite file format, offset 68)."""


@dataclass(frozen=True, slots=True)
class SqliteSession:
    """One connection to the file, as a `Session`."""

    connection: sqlite3.Connection

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Row]:
        return self.connection.execute(sql, values or {}).fetchall()

    def pages(self, sql: str, size: int) -> Iterator[list[Row]]:
        cursor = self.connection.execute(sql)
        while rows := cursor.fetchmany(size):
            yield rows

    def change(self, sql: str, values: Mapping[str, Any] | None = None) -> int:
        return self.connection.execute(sql, values or {}).rowcount

    def insert(self, sql: str, rows: Sequence[Row]) -> int:
        return max(self.connection.executemany(sql, rows).rowcount, 0)

    def settle(self) -> None:
        """Do nothing, because SQLite has no deferred triggers."""

    def announce(self, channel: str, number: int) -> None:
        """Do nothing: SQLite cannot notify other processes, so they poll."""

    def queue(self, name: str) -> None:
        """Do nothing, because SQLite allows only one writer at a time."""

    def now(self) -> float:
        return time.time()  # all users of a file share this machine's clock

    def renumber(self) -> None:
        """Do nothing, because SQLite continues after the highest number by itself."""

    def begin(self) -> None:
        """Begin with the write lock, so that the transaction cannot fail later for lack of it."""
        self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self.connection.execute("COMMIT")

    def rollback(self) -> None:
        # After an error such as a full disk, SQLite may have rolled back already.
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        self.connection.close()


@dataclass(frozen=True, slots=True)
class SqliteDriver:
    """The `Driver` of one file."""

    path: Path
    errors: ClassVar[tuple[type[Exception], ...]] = (sqlite3.Error,)
    has_clock: ClassVar[bool] = False

    @property
    def where(self) -> str:
        return str(self.path)

    def open(self) -> Session:
        """Open the file. If missing, create it and its folder, with access for this user only.

        Raises `StoreError` if the file cannot be opened, is not a sayso database, was written by a
        newer sayso, is locked for longer than 5 seconds, or is missing while its write-ahead log is
        there.
        """
        try:
            self._make()
            self._check()
            self._make_private()
            return self._connect(self.path)
        except sqlite3.Error as error:
            raise self.explain(error) from error

    @contextlib.contextmanager
    def snapshot(self) -> Generator[tuple[SqliteSession, int]]:
        self._check()
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        with contextlib.closing(connection):
            session = SqliteSession(connection)
            connection.execute("BEGIN")
            # The first read fixes the moment that this transaction sees.
            yield session, _version_of(session, self.where)

    def copy_to(self, path: Path, progress: Callable[[int, int], None]) -> int:
        """Copy the file with SQLite's backup API.

        The API starts again when another connection writes. With an open transaction it does not:
        it copies what this transaction sees, and in WAL mode other processes can write meanwhile.
        """
        with self.snapshot() as (session, version):
            make_empty(path)
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as target:
                session.connection.backup(
                    target,
                    pages=_COPY_PAGES,
                    progress=lambda _, left, total: progress(total - left, total),
                )
                # Without WAL the copy is one file that can be read anywhere.
                target.execute("PRAGMA journal_mode = DELETE")
        return version

    def size(self, session: Session) -> int:
        del session  # the files are measured, with the write-ahead log
        names = (self.path.name, f"{self.path.name}-wal")
        files = [self.path.with_name(name) for name in names]
        return sum(file.stat().st_size for file in files if file.exists())

    def _connect(self, path: Path, *, is_synced: bool = True) -> Session:
        with contextlib.ExitStack() as stack:
            connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            stack.callback(connection.close)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if is_synced else 'OFF'}")
            session = SqliteSession(connection)
            _migrate(session, self.where)
            stack.pop_all()
        return session

    def _make(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite would write a log that is left over into the new file. Look for it first:
            # another process may create both files meanwhile.
            has_wal = self._has_wal()
            # Do not open an existing file here: closing it would release SQLite's locks on it.
            if not self.path.exists():
                if has_wal:
                    what = "the database is missing, but its write-ahead log is there"
                    fix = f"Move {self.path}-wal to the database it belongs to, or away."
                    raise StoreError(what, where=self.where, fix=fix)
                self._make_whole()
            if not os.access(self.path, os.R_OK | os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.path))
        except OSError as error:
            raise self.explain(error) from error

    def _make_whole(self) -> None:
        """Create the file with all its tables under a temporary name, and link it to its place.

        If several processes do this at once, the first one wins.
        """
        new = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        try:
            make_empty(new)
            # No process uses the file yet, so sync it only once, at the end.
            self._connect(new, is_synced=False).close()
            _sync(new)
            os.link(new, self.path)
        except FileExistsError:
            pass
        except OSError:
            # The file system may not support links: create the file in its place.
            make_empty(self.path)
        finally:
            new.unlink(missing_ok=True)

    def _check(self) -> None:
        """Raise `StoreError` for a file of another program or a newer sayso, without changing it.

        If there is a write-ahead log, it is read too. Without it, no lock and no file is created.
        Retries if another process removes the log meanwhile.
        """
        for _ in range(_LOOKS):
            try:
                self._look()
                return
            except sqlite3.Error:
                time.sleep(_LOOK_SECONDS)
        self._look()

    def _look(self) -> None:
        query = "mode=ro" if self._has_wal() else "mode=ro&immutable=1"
        uri = f"{self.path.absolute().as_uri()}?{query}"
        with contextlib.closing(sqlite3.connect(uri, timeout=_BUSY_SECONDS, uri=True)) as db:
            _version_of(SqliteSession(db), self.where)

    def _has_wal(self) -> bool:
        try:
            return self.path.with_name(f"{self.path.name}-wal").stat().st_size > 0
        except FileNotFoundError:
            return False

    def _make_private(self) -> None:
        try:
            if stat.S_IMODE(self.path.stat().st_mode) != _MODE:
                self.path.chmod(_MODE)
        except OSError as error:
            raise self.explain(error) from error

    async def watch(self, notified: Callable[[int], None], channel: str) -> None:
        """Return at once: SQLite cannot notify."""

    def explain(self, error: Exception) -> StoreError:
        text = str(error)
        other = "choose another file with --store sqlite:PATH."
        if "locked" in text:
            fix = f"Another program has locked it: end that program, or {other}"
            return StoreError("the database is locked", where=self.where, fix=fix)
        if isinstance(error, PermissionError) or "readonly" in text:
            fix = f"Make the file and its folder writable, or {other}"
            return StoreError("the database cannot be written", where=self.where, fix=fix)
        if "not a database" in text or "malformed" in text:
            fix = f"Restore it from a backup, or {other}"
            what = "this file is not a valid SQLite database"
            return StoreError(what, where=self.where, fix=fix)
        if "full" in text:
            return StoreError("the disk is full", where=self.where, fix="Free some space.")
        return StoreError(f"the database cannot be used: {text}", where=self.where)

    def is_lost(self, error: Exception) -> bool:
        del error  # a file is never lost
        return False

    def is_clash(self, error: Exception) -> bool:
        del error  # one writer at a time cannot clash
        return False


def open_sqlite(path: Path) -> Database:
    """Open the store in one file. Raises what `SqliteDriver.open` raises."""
    return Database(SqliteDriver(path))


def make_empty(path: Path) -> None:
    """Create an empty file for this user only; keep a file that exists."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _MODE))


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _migrate(session: SqliteSession, where: str) -> None:
    if _version_of(session, where) == VERSION:
        return
    session.begin()
    try:
        # Read the version again, because another process may have upgraded the file.
        upgrade(session, SQLITE_TYPES, _version_of(session, where))
        session.change(f"PRAGMA application_id = {APPLICATION_ID}")
        session.change(f"PRAGMA user_version = {VERSION}")
        session.commit()
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            session.rollback()
        raise


def _version_of(session: SqliteSession, where: str) -> int:
    application = session.query("PRAGMA application_id")[0][0]
    tables = session.query("SELECT count(*) FROM sqlite_schema")[0][0]
    if application != APPLICATION_ID and tables:
        what = "this database belongs to another program"
        raise StoreError(what, where=where, fix="Choose another file with --store sqlite:PATH.")
    version = int(session.query("PRAGMA user_version")[0][0])
    check_version(version, where)
    return version
