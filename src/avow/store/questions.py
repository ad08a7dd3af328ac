"""The statements on questions: each answer and each use is one conditional update."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from avow.store import grants, past
from avow.store.rows import AnswerRow, ApprovalRow, ApprovalState, storable
from avow.store.session import Row, Session

COLUMNS: Final = (
    "number, binding, body, state, created, expires, answered_at, answered_by, channel, used_by, "
    "needed, edit"
)
_OPEN: Final = "state IN ('pending', 'approved')"
_LAST: Final = 2**62
"""A number that no question reaches."""

_EXPIRE: Final = (
    f"UPDATE approvals SET state = 'expired' WHERE binding = :binding AND {_OPEN} "
    "AND expires <= :now"
)
_FIND_OPEN: Final = (
    f"SELECT {COLUMNS} FROM approvals WHERE binding = :binding AND ({_OPEN} "
    "OR (state = 'denied' AND expires > :now)) ORDER BY number DESC LIMIT 1"
)
_INSERT: Final = (
    "INSERT INTO approvals (binding, body, state, created, expires, needed, subject) "
    "VALUES (:binding, :body, 'pending', :now, :expires, :needed, :subject) "
    f"ON CONFLICT (binding) WHERE {_OPEN} DO NOTHING RETURNING {COLUMNS}"
)
# Whoever answers holds the row until the end of the transaction. What an answer is about is the
# arguments as the person saw them.
_HOLD: Final = (
    "UPDATE approvals SET edit = :edit WHERE number = :number AND state = 'pending' "
    "AND expires > :now AND coalesce(edit, '') = :seen RETURNING needed, subject"
)
# A denial is of any arguments, and may take back what the same person said before.
_HOLD_TO_DENY: Final = (
    "UPDATE approvals SET needed = needed WHERE number = :number AND state = 'pending' "
    "AND expires > :now RETURNING needed, subject"
)
_UNSAY: Final = "DELETE FROM answers WHERE number = :number AND person = :by"
_SAY: Final = (
    "INSERT INTO answers (number, person, is_allowed, channel, strength, at, message) "
    "VALUES (:number, :by, :is_allowed, :channel, :strength, :now, :message) "
    "ON CONFLICT (number, person) DO NOTHING"
)
_OF_ANSWER: Final = ("number", "by", "channel", "strength", "now", "expires", "seen", "message")
_AGREED: Final = "SELECT count(*) FROM answers WHERE number = :number AND is_allowed = 1"
_ANSWER: Final = (
    "UPDATE approvals SET state = :state, answered_by = :by, channel = :channel, "
    "answered_at = :now, expires = :expires WHERE number = :number"
)
_USE: Final = (
    "UPDATE approvals SET state = 'used', used_by = :call "
    "WHERE number = :number AND binding = :binding AND state = 'approved' AND expires > :now"
)
_WITHDRAW: Final = (
    "UPDATE approvals SET state = 'expired', expires = :now "
    f"WHERE number = :number AND {_OPEN} AND expires > :now"
)
_OVER: Final = f"NOT ({_OPEN} AND expires > :now)"
_LOAD: Final = (
    f"INSERT INTO approvals ({COLUMNS}, subject) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def open_question(session: Session, values: dict[str, Any]) -> ApprovalRow:
    """The open question of a binding, or a new one."""
    while True:
        session.change(_EXPIRE, values)
        # Whoever loses the race to insert finds the winner's row on the next turn.
        rows = session.query(_FIND_OPEN, values) or session.query(_INSERT, values)
        if rows:
            return approval(rows[0])


@dataclass(frozen=True, slots=True)
class Said:
    """One person's answer to one question.

    `seen` is the edit that the person saw, and `edit` the one that stands after the answer; both
    JSON, empty for none. `expires` is when the answer is void, and `grant` what to give where the
    question ends as approved.
    """

    number: int
    by: str
    is_allowed: bool
    channel: str
    strength: str
    now: float
    expires: float
    seen: str = ""
    edit: str = ""
    message: str | None = None
    grant: Mapping[str, Any] | None = None


def answer(session: Session, said: Said) -> bool:
    """Answer a pending question; whether this answer counts.

    One denial ends it; it is approved once as many people as it needs have said so.
    """
    values: dict[str, Any] = _storable({name: getattr(said, name) for name in _OF_ANSWER})
    values |= {"edit": said.edit or None, "is_allowed": int(said.is_allowed)}
    held = session.query(_HOLD if said.is_allowed else _HOLD_TO_DENY, values)
    if not held:
        return False
    if not said.is_allowed:
        session.change(_UNSAY, values)
    elif said.edit != said.seen:
        # Whoever agreed so far agreed to something else.
        session.change("DELETE FROM answers WHERE number = :number", values)
    if session.change(_SAY, values) != 1:
        return False
    needed, _ = held[0]
    if not said.is_allowed:
        _end(session, values, ApprovalState.DENIED)
    elif session.query(_AGREED, values)[0][0] >= needed:
        _end(session, values, ApprovalState.APPROVED)
        if said.grant is not None:
            _give(session, said.grant)
    session.announce(said.number)
    return True


def _storable(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: storable(one) if isinstance(one, str) else one for key, one in values.items()}


def _end(session: Session, values: dict[str, Any], state: ApprovalState) -> None:
    session.change(_ANSWER, {**values, "state": str(state)})


def _give(session: Session, grant: Mapping[str, Any]) -> None:
    """A grant for a conversation is for the one that goes on."""
    conversation = None
    if grant["is_for_conversation"]:
        conversation = past.begun(session, grant["subject"], grant["client"])
        if conversation is None:
            return
    kept = {name: one for name, one in grant.items() if name != "is_for_conversation"}
    grants.give(session, {**_storable(kept), "conversation": conversation})


def answers(session: Session, number: int) -> list[AnswerRow]:
    """What was said to one question, oldest first."""
    sql = (
        "SELECT number, person, is_allowed, channel, strength, at, message FROM answers "
        "WHERE number = :number ORDER BY at, person"
    )
    return [
        AnswerRow(one, person, bool(is_allowed), *rest)
        for one, person, is_allowed, *rest in session.query(sql, {"number": number})
    ]


def use(session: Session, values: dict[str, Any]) -> bool:
    """Use an approval; whether it was there to use."""
    return session.change(_USE, values) == 1


def withdraw(session: Session, number: int, now: float) -> bool:
    """Let a question expire now; whether it was open."""
    is_open = session.change(_WITHDRAW, {"number": number, "now": now}) == 1
    if is_open:
        session.announce(number)
    return is_open


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


def pending(session: Session, now: float, limit: int, after: int = 0) -> list[Row]:
    """The rows of questions that wait, the oldest first, from the one `after` a number on."""
    # `_OPEN` says less than what follows; it is what the index of open questions is made of.
    sql = (
        f"SELECT {COLUMNS} FROM approvals WHERE {_OPEN} AND state = 'pending' AND expires > :now "
        "AND number > :after ORDER BY number LIMIT :limit"
    )
    return session.query(sql, {"now": now, "limit": limit, "after": after})


def settled(session: Session, now: float, limit: int, before: int | None = None) -> list[Row]:
    """The newest rows of questions that wait no longer, from the one `before` a number on."""
    sql = (
        f"SELECT {COLUMNS} FROM approvals WHERE NOT (state = 'pending' AND expires > :now) "
        "AND number < :before ORDER BY number DESC LIMIT :limit"
    )
    last = _LAST if before is None else before
    return session.query(sql, {"now": now, "limit": limit, "before": last})


def count_pending(session: Session, now: float) -> int:
    """How many questions wait for an answer."""
    sql = "SELECT count(*) FROM approvals WHERE state = 'pending' AND expires > :now"
    return session.query(sql, {"now": now})[0][0]


def load(session: Session, rows: list[Row]) -> None:
    """Put rows here as they are, each with its subject at its end."""
    session.insert(_LOAD, rows)


def drop_of(session: Session, subject: str, now: float) -> tuple[int, int]:
    """Delete one person's questions that are over; how many went, and how many are open."""
    values = {"subject": subject, "now": now}
    over = f"subject = :subject AND {_OVER}"
    session.change(
        f"DELETE FROM answers WHERE number IN (SELECT number FROM approvals WHERE {over})", values
    )
    gone = session.change(f"DELETE FROM approvals WHERE {over}", values)
    session.change(
        "UPDATE approvals SET answered_by = 'erased' WHERE answered_by = :subject", values
    )
    session.change("UPDATE answers SET person = 'erased' WHERE person = :subject", values)
    sql = "SELECT count(*) FROM approvals WHERE subject = :subject"
    return gone, session.query(sql, values)[0][0]


def drop_before(session: Session, before: float) -> None:
    """Delete the questions that were over before a moment."""
    values = {"before": before}
    old = "SELECT number FROM approvals WHERE expires < :before"
    session.change(f"DELETE FROM answers WHERE number IN ({old})", values)
    session.change("DELETE FROM approvals WHERE expires < :before", values)


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
