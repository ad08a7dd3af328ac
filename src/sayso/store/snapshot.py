"""A whole store at one moment: its state, a copy in a file, and the way back from a copy."""

import contextlib
import sqlite3
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.errors import UsageError
from sayso.store.copying import copy_rows, count_rows
from sayso.store.location import driver_of, is_postgres, store_path
from sayso.store.migrations import VERSION
from sayso.store.session import Driver, Session
from sayso.store.sqlite import SqliteDriver

_LEASES: Final = ("replicas", "writers")
"""Tables whose rows show that a process runs, or ran."""

Progress = Callable[[int, int], None]
"""Gets how much is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a store. `oldest` is the time of its oldest record, in Unix seconds."""

    where: str
    version: int
    bytes: int
    rows: dict[str, int]
    oldest: float | None


def read_status(url: str | None = None) -> Status:
    """Return the state of a store, which is not upgraded. Raises `UsageError` or `StoreError`."""
    driver = _existing(url)
    with _explained(driver), driver.snapshot() as (session, version):
        _check_is_store(driver, version)
        oldest = session.query("SELECT min(at) FROM records")[0][0]
        size = driver.size(session)
        return Status(driver.where, version, size, count_rows(session, version), oldest)


def copy_store(url: str | None, path: Path, progress: Progress = lambda _d, _t: None) -> int:
    """Copy one moment of a store to a new SQLite file while others write; upgrade nothing.

    Returns the version of the tables. If `progress` raises, the copy is incomplete. Raises
    `UsageError` if there is no store, and `StoreError`.
    """
    driver = _existing(url)
    try:
        version = driver.copy_to(path, progress)
    except sqlite3.Error as error:
        # To read a store fills no disk, so it is the disk of the copy.
        is_of_copy = is_postgres(url) or "full" in str(error)
        raise (SqliteDriver(path) if is_of_copy else driver).explain(error) from error
    except driver.errors as error:
        raise driver.explain(error) from error
    _check_is_store(driver, version)
    return version


def fill_store(url: str | None, path: Path, progress: Progress = lambda _d, _t: None) -> None:
    """Write all rows of a copy to an empty store, in one transaction; create a missing file.

    Open approvals expire, because they may have been used after the copy was made. Rows about
    running processes are left out. Raises `UsageError` if the store has data or is in use, and
    `StoreError`; nothing was written then. The tables of the copy are upgraded.
    """
    driver = driver_of(url)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_explained(SqliteDriver(path)))
        stack.enter_context(_explained(driver))
        SqliteDriver(path).open().close()  # upgrades the copy of an older store
        copy, version = stack.enter_context(SqliteDriver(path).snapshot())
        session = driver.open()
        stack.callback(session.close)
        session.begin()
        try:
            _check_empty(session, driver.where)
            session.change("DELETE FROM writers")  # of processes that ended
            copy_rows(copy, session, version=version, progress=progress)
            expire = "UPDATE approvals SET state = 'expired' WHERE state IN ('pending', 'approved')"
            session.change(expire)
            # No writer of the copy runs here, so the next process finishes their open calls.
            session.change("UPDATE writers SET lease = 0")
            session.renumber()
            session.commit()
        except BaseException:
            with contextlib.suppress(*driver.errors):
                session.rollback()
            raise


def check_empty(url: str | None) -> None:
    """Raise `UsageError` if there is a store with data, or one that a process uses."""
    driver = driver_of(url)
    if not is_postgres(url) and not store_path(url).exists():
        return
    with _explained(driver), driver.snapshot() as (session, version):
        if version == VERSION:
            _check_empty(session, driver.where)
        elif any(count_rows(session, version).values()):
            raise _not_empty(driver.where)


def _existing(url: str | None) -> Driver:
    if not is_postgres(url) and not store_path(url).exists():
        fix = "Set --store or SAYSO_STORE."
        raise UsageError("store not found", where=str(store_path(url)), fix=fix)
    return driver_of(url)


@contextlib.contextmanager
def _explained(driver: Driver) -> Generator[None]:
    try:
        yield
    except driver.errors as error:
        raise driver.explain(error) from error


def _check_is_store(driver: Driver, version: int) -> None:
    if version == 0:
        fix = "Set --store or SAYSO_STORE to the store that sayso uses."
        raise UsageError("this database has no tables yet", where=driver.where, fix=fix)


def _check_empty(session: Session, where: str) -> None:
    counts = count_rows(session, VERSION)
    if any(count for table, count in counts.items() if table not in _LEASES):
        raise _not_empty(where)
    now = {"now": session.now()}
    for table in _LEASES:
        if session.query(f"SELECT 1 FROM {table} WHERE lease > :now LIMIT 1", now):
            what = "a running process uses this store"
            raise UsageError(what, where=where, fix="Stop it, or restore into another store.")


def _not_empty(where: str) -> UsageError:
    fix = "Restore into an empty database, or move this file away with its -wal file."
    return UsageError("this store is not empty", where=where, fix=fix)
