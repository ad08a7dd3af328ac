"""The statements on records: added, read, erased, dropped; never changed."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from avow.store.interface import Seal
from avow.store.rows import Head, RecordRow
from avow.store.session import Row, Session

_COLUMNS: Final = (
    "call, at, event, body, seq, payload, subject, writer, idx, previous, mac_key, digest, mac"
)
_INSERT: Final = (
    "INSERT INTO records (call, at, event, body, payload, subject, writer, idx, previous, "
    "mac_key, digest, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_LOAD: Final = f"INSERT INTO records ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SELECT: Final = f"SELECT {_COLUMNS} FROM records"
_UNFINISHED: Final = (
    f"{_SELECT} AS tried WHERE writer = :writer AND event = 'attempt' AND NOT EXISTS "
    "(SELECT 1 FROM records AS later WHERE later.call = tried.call AND (later.event = 'outcome' "
    "OR (later.event = 'attempt' AND later.seq > tried.seq))) ORDER BY seq"
)
_HEADS: Final = """SELECT records.writer, records.idx, records.mac FROM records
    JOIN (SELECT writer, max(idx) AS idx FROM records WHERE writer IS NOT NULL GROUP BY writer)
        AS newest ON records.writer = newest.writer AND records.idx = newest.idx
    ORDER BY records.writer"""


def add(session: Session, records: Sequence[RecordRow], seal: Seal | None = None) -> None:
    """Write records, each with its place in the chain of `seal`; the database numbers them."""
    if seal is not None:
        if seal.is_in_doubt:
            seal.recall(head(session, seal.writer))
        records = seal.seal(records)
    session.insert(_INSERT, [_values(one) for one in records])


def load(session: Session, records: Sequence[RecordRow]) -> None:
    """Write records with the numbers that they have."""
    rows = [(*values[:4], one.seq, *values[4:]) for one in records if (values := _values(one))]
    session.insert(_LOAD, rows)


def newest(session: Session, call: str | None, limit: int) -> list[RecordRow]:
    """The newest records, newest first."""
    where = "WHERE call = :call " if call else ""
    sql = f"{_SELECT} {where}ORDER BY seq DESC LIMIT :limit"
    return _records(session, sql, {"call": call, "limit": limit})


def scan(session: Session, after: int, limit: int) -> list[RecordRow]:
    """The records after a number, oldest first."""
    sql = f"{_SELECT} WHERE seq > :after ORDER BY seq LIMIT :limit"
    return _records(session, sql, {"after": after, "limit": limit})


def count(session: Session) -> int:
    """How many there are."""
    return session.query("SELECT count(*) FROM records")[0][0]


def unfinished(session: Session, writer: str) -> list[RecordRow]:
    """The last attempt of each call of a writer that has no outcome, oldest first."""
    return _records(session, _UNFINISHED, {"writer": writer})


def heads(session: Session) -> list[Head]:
    """The last record of each chain."""
    return [Head(*row) for row in session.query(_HEADS)]


def head(session: Session, writer: str) -> Head | None:
    """The last record of one chain."""
    sql = (
        "SELECT writer, idx, mac FROM records WHERE writer = :writer AND idx = "
        "(SELECT max(idx) FROM records WHERE writer = :writer)"
    )
    rows = session.query(sql, {"writer": writer})
    return Head(*rows[0]) if rows else None


def erase(session: Session, subject: str) -> list[RecordRow]:
    """Erase the payloads of one subject; the records as they are now, oldest first."""
    sql = (
        "UPDATE records SET payload = NULL, subject = NULL "
        f"WHERE subject = :subject RETURNING {_COLUMNS}"
    )
    return sorted(_records(session, sql, {"subject": subject}), key=lambda one: one.seq)


def drop(session: Session, upto: Mapping[str, int]) -> int:
    """Delete each writer's records up to an index; for the writer `""`, up to a number."""
    gone = 0
    for writer, index in upto.items():
        which = "writer = :writer AND idx" if writer else "writer IS NULL AND seq"
        sql = f"DELETE FROM records WHERE {which} <= :index"
        gone += session.change(sql, {"writer": writer, "index": index})
    return gone


def _values(one: RecordRow) -> Row:
    return (
        one.call,
        one.at,
        one.event,
        one.body,
        one.payload,
        one.subject,
        one.writer or None,
        one.index if one.writer else None,
        one.previous,
        one.key,
        one.digest,
        one.mac,
    )


def _records(session: Session, sql: str, values: dict[str, Any]) -> list[RecordRow]:
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
