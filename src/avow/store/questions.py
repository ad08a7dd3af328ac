"""The statements on questions: each answer and each use is one conditional update."""

from typing import Any, Final

from avow.store.rows import ApprovalRow, ApprovalState
from avow.store.session import Row, Session

COLUMNS: Final = (
    "number, binding, body, state, created, expires, answered_at, answered_by, channel, used_by"
)
_OPEN: Final = "state IN ('pending', 'approved')"

_EXPIRE: Final = (
    f"UPDATE approvals SET state = 'expired' WHERE binding = :binding AND {_OPEN} "
    "AND expires <= :now"
)
_FIND_OPEN: Final = (
    f"SELECT {COLUMNS} FROM approvals WHERE binding = :binding AND ({_OPEN} "
    "OR (state = 'denied' AND expires > :now)) ORDER BY number DESC LIMIT 1"
)
_INSERT: Final = (
    "INSERT INTO approvals (binding, body, state, created, expires, subject) "
    "VALUES (:binding, :body, 'pending', :now, :expires, :subject) "
    f"ON CONFLICT (binding) WHERE {_OPEN} DO NOTHING RETURNING {COLUMNS}"
)
_ANSWER: Final = (
    "UPDATE approvals SET state = :state, answered_by = :by, channel = :channel, "
    "answered_at = :now, expires = :expires "
    "WHERE number = :number AND state = 'pending' AND expires > :now"
)
_USE: Final = (
    "UPDATE approvals SET state = 'used', used_by = :call "
    "WHERE number = :number AND binding = :binding AND state = 'approved' AND expires > :now"
)
_OVER: Final = f"NOT ({_OPEN} AND expires > :now)"
_LOAD: Final = (
    f"INSERT INTO approvals ({COLUMNS}, subject) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def open_question(session: Session, values: dict[str, Any]) -> ApprovalRow:
    """The open question of a binding, or a new one."""
    while True:
        session.change(_EXPIRE, values)
        # Whoever loses the race to insert finds the winner's row on the next turn.
        rows = session.query(_FIND_OPEN, values) or session.query(_INSERT, values)
        if rows:
            return approval(rows[0])


def answer(session: Session, values: dict[str, Any]) -> bool:
    """Answer a pending question; whether this answer was the one that counts."""
    has_won = session.change(_ANSWER, values) == 1
    if has_won:
        session.announce(values["number"])
    return has_won


def use(session: Session, values: dict[str, Any]) -> bool:
    """Use an approval; whether it was there to use."""
    return session.change(_USE, values) == 1


def one(session: Session, number: int) -> list[Row]:
    """The row of one question, if there is one."""
    sql = f"SELECT {COLUMNS} FROM approvals WHERE number = :number"
    return session.query(sql, {"number": number})


def newest(session: Session, now: float, limit: int) -> list[Row]:
    """The newest rows, the pending ones first."""
    sql = (
        f"SELECT {COLUMNS} FROM approvals "
        "ORDER BY state = 'pending' AND expires > :now DESC, number DESC LIMIT :limit"
    )
    return session.query(sql, {"now": now, "limit": limit})


def load(session: Session, rows: list[Row]) -> None:
    """Put rows here as they are, each with its subject at its end."""
    session.insert(_LOAD, rows)


def drop_of(session: Session, subject: str, now: float) -> tuple[int, int]:
    """Delete one person's questions that are over; how many went, and how many are open."""
    values = {"subject": subject, "now": now}
    gone = session.change(f"DELETE FROM approvals WHERE subject = :subject AND {_OVER}", values)
    session.change(
        "UPDATE approvals SET answered_by = 'erased' WHERE answered_by = :subject", values
    )
    sql = "SELECT count(*) FROM approvals WHERE subject = :subject"
    return gone, session.query(sql, values)[0][0]


def drop_before(session: Session, before: float) -> None:
    """Delete the questions that were over before a moment."""
    session.change("DELETE FROM approvals WHERE expires < :before", {"before": before})


def approval(row: Row) -> ApprovalRow:
    """The row as it was written."""
    number, binding, body, state, *rest = row
    return ApprovalRow(number, binding, body, ApprovalState(state), *rest)


def approval_at(row: Row, now: float) -> ApprovalRow:
    """The row as it stands at `now`, before anything has marked it as expired."""
    found = approval(row)
    is_open = found.state in (ApprovalState.PENDING, ApprovalState.APPROVED)
    if not is_open or found.expires > now:
        return found
    return approval((*row[:3], ApprovalState.EXPIRED, *row[4:]))
