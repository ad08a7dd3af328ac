"""The store in one SQLite file, in WAL mode, written from one thread."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
import anyio.to_thread

from avow.errors import StoreError
from avow.store.migrations import migrate
from avow.store.rows import ApprovalRow, ApprovalState, RecordRow

_BUSY_SECONDS: Final = 5.0
_APPROVAL: Final = (
    "number, binding, body, state, created, expires, answered_at, answered_by, channel, used_by"
)

_OPEN: Final = (
    "INSERT INTO approvals (binding, body, state, created, expires) "  # noqa: S608 - constants
    f"VALUES (?, ?, 'pending', ?, ?) RETURNING {_APPROVAL}"
)

T = TypeVar("T")


class SqliteStore:
    """A `Store` in one file. One thread at a time speaks to the database."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self.connection = connection
        self._turn = anyio.CapacityLimiter(1)

    async def append(self, records: Sequence[RecordRow]) -> None:
        """See `Store.append`."""
        rows = [(one.call, one.at, one.event, one.body) for one in records]
        sql = "INSERT INTO records (call, at, event, body) VALUES (?, ?, ?, ?)"
        await self._write(lambda db: db.executemany(sql, rows))

    async def records(self, *, call: str | None = None, limit: int = 100) -> list[RecordRow]:
        """See `Store.records`."""
        where = "WHERE call = :call" if call else ""
        sql = (
            f"SELECT call, at, event, body, seq FROM records {where} ORDER BY seq DESC LIMIT :limit"  # noqa: S608 - both parts are ours
        )
        rows = await self._read(sql, {"call": call, "limit": limit})
        return [RecordRow(*row) for row in rows]

    async def open_approval(
        self, binding: str, body: str, *, now: float, expires: float
    ) -> ApprovalRow:
        """See `Store.open_approval`."""

        def write(db: sqlite3.Connection) -> ApprovalRow:
            _expire(db, now)
            sql = (
                f"SELECT {_APPROVAL} FROM approvals WHERE binding = ? AND (state IN "  # noqa: S608 - a constant
                "('pending', 'approved') OR (state = 'denied' AND expires > ?)) "
                "ORDER BY number DESC LIMIT 1"
            )
            row = db.execute(sql, (binding, now)).fetchone()
            return _approval(row or db.execute(_OPEN, (binding, body, now, expires)).fetchone())

        return await self._write(write)

    async def approval(self, number: int, *, now: float) -> ApprovalRow | None:
        """See `Store.approval`."""
        sql = f"SELECT {_APPROVAL} FROM approvals WHERE number = :number"  # noqa: S608 - a constant
        rows = await self._read(sql, {"number": number})
        return _at(_approval(rows[0]), now) if rows else None

    async def approvals(self, *, now: float, limit: int = 100) -> list[ApprovalRow]:
        """See `Store.approvals`."""
        sql = (
            f"SELECT {_APPROVAL} FROM approvals "  # noqa: S608 - a constant
            "ORDER BY state = 'pending' AND expires > :now DESC, number DESC LIMIT :limit"
        )
        rows = await self._read(sql, {"now": now, "limit": limit})
        return [_at(_approval(row), now) for row in rows]

    async def answer_approval(
        self, number: int, *, is_allowed: bool, by: str, channel: str, now: float, expires: float
    ) -> bool:
        """See `Store.answer_approval`."""
        state = ApprovalState.APPROVED if is_allowed else ApprovalState.DENIED
        sql = (
            "UPDATE approvals SET state = ?, answered_by = ?, channel = ?, answered_at = ?, "
            "expires = ? WHERE number = ? AND state = 'pending' AND expires > ?"
        )
        values = (str(state), by, channel, now, expires, number, now)
        return await self._write(lambda db: db.execute(sql, values).rowcount == 1)

    async def use_approval(self, number: int, *, binding: str, call: str, now: float) -> bool:
        """See `Store.use_approval`."""
        sql = (
            "UPDATE approvals SET state = 'used', used_by = ? "
            "WHERE number = ? AND binding = ? AND state = 'approved' AND expires > ?"
        )
        values = (call, number, binding, now)
        return await self._write(lambda db: db.execute(sql, values).rowcount == 1)

    async def close(self) -> None:
        """See `Store.close`."""
        await self._in_turn(self.connection.close)

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def transact() -> T:
            with _transaction(self.connection):
                return work(self.connection)

        return await self._in_turn(transact)

    async def _read(self, sql: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
        return await self._in_turn(lambda: self.connection.execute(sql, values).fetchall())

    async def _in_turn(self, work: Callable[[], T]) -> T:
        try:
            return await anyio.to_thread.run_sync(work, limiter=self._turn)
        except sqlite3.Error as error:
            raise _store_error(self._path, error) from error


def open_sqlite(path: Path) -> SqliteStore:
    """Open the file, making it and its folder for this user alone if they are missing.

    Raises `StoreError` when it cannot be opened, is no avow database, is of a newer avow, or is
    locked for longer than 5 s.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Made with its mode, not changed afterwards: others can read it at no moment.
        made = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            # One that was there may be open to others; what avow writes into it must not be.
            os.fchmod(made, 0o600)
        finally:
            os.close(made)
    except OSError as error:
        raise _store_error(path, error) from error
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        migrate(connection, str(path))
    except (sqlite3.Error, StoreError) as error:
        if connection is not None:
            connection.close()
        raise error if isinstance(error, StoreError) else _store_error(path, error) from error
    return SqliteStore(path, connection)


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Generator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _expire(db: sqlite3.Connection, now: float) -> None:
    sql = (
        "UPDATE approvals SET state = 'expired' "
        "WHERE state IN ('pending', 'approved') AND expires <= ?"
    )
    db.execute(sql, (now,))


def _approval(row: tuple[Any, ...]) -> ApprovalRow:
    number, binding, body, state, *rest = row
    return ApprovalRow(number, binding, body, ApprovalState(state), *rest)


def _at(row: ApprovalRow, now: float) -> ApprovalRow:
    """The row as it stands at `now`, before anything has marked it as expired."""
    is_open = row.state in (ApprovalState.PENDING, ApprovalState.APPROVED)
    if not is_open or row.expires > now:
        return row
    return ApprovalRow(row.number, row.binding, row.body, ApprovalState.EXPIRED, *_rest(row))


def _rest(row: ApprovalRow) -> tuple[Any, ...]:
    return (
        row.created,
        row.expires,
        row.answered_at,
        row.answered_by,
        row.channel,
        row.used_by,
    )


def _store_error(path: Path, error: Exception) -> StoreError:
    where, text = str(path), str(error)
    if "locked" in text:
        fix = "Another program holds it: end it, or choose another file with --store sqlite:PATH."
        return StoreError("the database is locked", where=where, fix=fix)
    if isinstance(error, PermissionError) or "readonly" in text:
        fix = "Make the file and its folder writable, or choose another with --store sqlite:PATH."
        return StoreError("the database cannot be written", where=where, fix=fix)
    if "not a database" in text or "malformed" in text:
        fix = "Restore it from a copy, or choose another file with --store sqlite:PATH."
        return StoreError("this file is not a sound SQLite database", where=where, fix=fix)
    if "full" in text:
        return StoreError("the disk is full", where=where, fix="Free some space.")
    return StoreError(f"the database cannot be used: {text}", where=where)
