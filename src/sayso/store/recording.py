"""Writes records, each in the transaction of the change that it is about, and reads them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sayso.errors import StoreError
from sayso.store.rows import Head, RecordRow, storable
from sayso.store.session import Row, Session

_ATTEMPT: Final = "attempt"
LOWEST_SEQ: Final = -(2**63)
"""The lowest sequence number that a database can store; a scan from here finds all records."""
COLUMNS: Final = (
    "call, at, event, body, seq, payload, subject, writer, idx, previous, mac_key, digest, mac"
)
_INSERT: Final = (
    "INSERT INTO records (call, at, event, body, payload, subject, writer, idx, previous, "
    "mac_key, digest, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_LOAD: Final = f"INSERT INTO records ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
SELECT: Final = f"SELECT {COLUMNS} FROM records"
_PAGE: Final = 1000
# Takes one index step per chain. A GROUP BY would read the whole index.
_HEADS: Final = """WITH RECURSIVE chains(writer) AS (
        SELECT min(writer) FROM records WHERE writer IS NOT NULL
        UNION ALL SELECT (SELECT min(writer) FROM records WHERE writer > chains.writer)
            FROM chains WHERE chains.writer IS NOT NULL)
    SELECT records.writer, records.idx, records.mac, records.seq
    FROM chains JOIN records ON records.writer = chains.writer AND records.idx =
        (SELECT max(idx) FROM records AS later WHERE later.writer = chains.writer)
    ORDER BY records.writer"""


@dataclass(frozen=True, slots=True)
class LogView:
    """The log inside a transaction, from which a chain's first record is made."""

    session: Session

    def ends(self) -> list[tuple[int, Head]]:
        """Return the last record of each chain, with its number."""
        return ends(self.session)

    def about_itself(self, events: Sequence[str]) -> Iterator[RecordRow]:
        """Yield the records with one of these events that belong to no call, newest first."""
        names = {f"event_{index}": str(event) for index, event in enumerate(events)}
        places = ", ".join(f":{name}" for name in names)
        sql = (
            f"{SELECT} WHERE call = '' AND event IN ({places}) AND seq < :before "
            "ORDER BY seq DESC LIMIT :limit"
        )
        before = bounds(self.session)[1] + 1
        while rows := select(self.session, sql, {**names, "before": before, "limit": _PAGE}):
            yield from rows
            before = rows[-1].seq

    def rows(self) -> Iterator[RecordRow]:
        after = LOWEST_SEQ
        while rows := scan(self.session, after, _PAGE):
            yield from rows
            after = rows[-1].seq


class Seal(Protocol):
    """Gives records their places in one writer's chain, in the order in which they are written.

    Only the store's own thread calls it, so there is one call at a time.
    """

    @property
    def writer(self) -> str: ...

    @property
    def is_in_doubt(self) -> bool:
        """Return whether the last records may or may not have been written."""
        ...

    @property
    def is_new(self) -> bool: ...

    def first(self, log: LogView) -> list[RecordRow]:
        """Return the records to write before the first record of the chain."""
        ...

    def recall(self, head: Head | None) -> None:
        """Continue the chain from its end in the store.

        Raises `StoreError` if the end is neither the last written nor the last sealed record.
        """
        ...

    def seal(self, records: Sequence[RecordRow]) -> list[RecordRow]:
        """Return the records with their places; `settle` must be called after writing them."""
        ...

    def settle(self, *, is_written: bool | None) -> None:
        """Note whether the records sealed since the last call were written; `None` if unknown."""
        ...


def add(
    session: Session,
    records: Sequence[RecordRow],
    seal: Seal | None = None,
    *,
    is_checked: bool = True,
) -> None:
    """Write records, each with its place in the chain of `seal`; the database numbers them.

    Raises `StoreError` if the database did not store the records. With `is_checked`, attempts are
    read again to find out.
    """
    if seal is not None:
        if seal.is_in_doubt:
            seal.recall(head(session, seal.writer))
        if seal.is_new and (records or _has_only_unchained(session)):
            records = [*seal.first(LogView(session)), *records]
        records = seal.seal(records)
    if session.insert(_INSERT, [_values(record) for record in records]) != len(records):
        raise _not_kept()
    if is_checked:
        check(session, records)


def check(session: Session, records: Sequence[RecordRow]) -> None:
    """Read attempts again, in the transaction that wrote them.

    A trigger, rule or view may drop or change a row and report it as written. If an attempt is
    missing or changed, this raises `StoreError`, which rolls back the transaction.
    """
    attempts = [record for record in records if record.event == _ATTEMPT]
    if not attempts:
        return
    session.settle()
    calls = {attempt.call for attempt in attempts}
    kept = [_written(record) for record in of_calls(session, [*calls])]
    if any(_written(attempt) not in kept for attempt in attempts):
        raise _not_kept()


def _written(row: RecordRow) -> Row:
    values = _values(row)
    return (values[0], float(values[1]), *values[2:])


def _not_kept() -> StoreError:
    fix = "Check the table records for triggers, rules and views."
    return StoreError("the database does not store records as they are written", fix=fix)


def load(session: Session, records: Sequence[RecordRow]) -> None:
    """Write records, and keep their numbers."""
    rows: list[Row] = []
    for record in records:
        values = _values(record)
        rows.append((*values[:4], record.seq, *values[4:]))
    session.insert(_LOAD, rows)


def scan(session: Session, after: int, limit: int) -> list[RecordRow]:
    """Return the records after a number, oldest first."""
    sql = f"{SELECT} WHERE seq > :after ORDER BY seq LIMIT :limit"
    return select(session, sql, {"after": after, "limit": limit})


def of_calls(session: Session, calls: Sequence[str]) -> list[RecordRow]:
    """Return all records of some calls, oldest first."""
    if not calls:
        return []
    values = {f"call_{index}": storable(call) for index, call in enumerate(calls)}
    names = ", ".join(f":{name}" for name in values)
    sql = f"{SELECT} WHERE call IN ({names}) ORDER BY seq"
    return select(session, sql, values)


def bounds(session: Session) -> tuple[int, int]:
    """Return the first and the last sequence number; for an empty log, 1 and 0."""
    # Two subqueries, because SQLite reads the whole table for both aggregates in one query.
    sql = "SELECT (SELECT min(seq) FROM records), (SELECT max(seq) FROM records)"
    first, last = session.query(sql)[0]
    if first is None:
        return 1, 0
    return first, last


def ends(session: Session) -> list[tuple[int, Head]]:
    """Return the last record of each chain, with its number."""
    rows = session.query(_HEADS)
    return [(seq, Head(writer, index, mac)) for writer, index, mac, seq in rows]


def head(session: Session, writer: str) -> Head | None:
    """Return the place of a chain's last record, or `None` if the chain has no records."""
    sql = (
        "SELECT writer, idx, mac FROM records WHERE writer = :writer AND idx = "
        "(SELECT max(idx) FROM records WHERE writer = :writer)"
    )
    rows = session.query(sql, {"writer": writer})
    return Head(*rows[0]) if rows else None


def _has_only_unchained(session: Session) -> bool:
    sql = (
        "SELECT EXISTS (SELECT 1 FROM records) "
        "AND NOT EXISTS (SELECT 1 FROM records WHERE writer IS NOT NULL)"
    )
    return bool(session.query(sql)[0][0])


def _values(record: RecordRow) -> Row:
    return (
        record.call,
        record.at,
        record.event,
        record.body,
        record.payload,
        record.subject,
        record.writer or None,
        record.index if record.writer else None,
        record.previous,
        record.key,
        record.digest,
        record.mac,
    )


def select(session: Session, sql: str, values: dict[str, Any]) -> list[RecordRow]:
    """Return the records that a statement selects; it must begin with the constant `SELECT`."""
    return [_record(row) for row in session.query(sql, values)]


def _record(row: Row) -> RecordRow:
    call, at, event, body, seq, payload, subject, writer, index, previous, key, digest, mac = row
    return RecordRow(
        call,
        at,
        event,
        body,
        seq,
        payload,
        subject,
        writer=writer or "",
        index=index or 0,
        previous=previous,
        key=key,
        digest=digest,
        mac=mac,
    )
