"""The statements on questions: each answer and each use is one conditional update."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from avow.errors import StoreError
from avow.store import claims, grants, past
from avow.store.rows import AnswerRow, ApprovalRow, ApprovalState, GrantRow, storable
from avow.store.session import Row, Session

COLUMNS: Final = (
    "number, binding, body, state, created, expires, answered_at, answered_by, channel, used_by, "
    "needed, edit, mac"
)
_MAX_FORGED: Final = 8
"""Forged rows of one binding that are voided before the question is given up."""
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
_PENDING: Final = f"{_OPEN} AND state = 'pending' AND expires > :now"
"""`_OPEN` says less than the rest; it is what the index of open questions is made of."""
_COUNT_OF: Final = f"SELECT count(*) FROM approvals WHERE {_PENDING} AND subject = :subject"
_SUBJECT_OF: Final = "(SELECT coalesce(subject, '') FROM approvals WHERE number = :after)"
_TURN_OF: Final = (
    f"SELECT count(*) + 1 FROM approvals WHERE {_PENDING} AND number < :after "
    f"AND coalesce(subject, '') = {_SUBJECT_OF}"
)
_IN_TURNS: Final = (
    f"SELECT {COLUMNS} FROM approvals JOIN (SELECT number, row_number() OVER "
    "(PARTITION BY coalesce(subject, '') ORDER BY number) AS turn FROM approvals "
    f"WHERE {_PENDING}) AS turns USING (number) "
    "WHERE turn > :turn OR (turn = :turn AND number > :after) ORDER BY turn, number LIMIT :limit"
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
    "INSERT INTO answers "
    "(number, person, is_allowed, channel, strength, at, message, edit, expires, mac) VALUES "
    "(:number, :by, :is_allowed, :channel, :strength, :now, :message, :said, :expires, :mac) "
    "ON CONFLICT (number, person) DO NOTHING"
)
_OF_ANSWER: Final = (
    "number", "by", "channel", "strength", "now", "expires", "seen", "message", "mac",
)  # fmt: skip
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
    f"INSERT INTO approvals ({COLUMNS}, subject) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SIGN: Final = "UPDATE approvals SET mac = :mac WHERE number = :number"
_VOID: Final = "UPDATE approvals SET state = 'expired', expires = :now WHERE number = :number"

Sign = Callable[[ApprovalRow], str]
"""Signs a question that was just written."""
Judge = Callable[[ApprovalRow, Sequence[AnswerRow]], bool]
"""Whether a question and its answers are as they were signed."""


def open_question(
    session: Session,
    values: dict[str, Any],
    *,
    sign: Sign | None = None,
    judge: Judge | None = None,
    most: int | None = None,
) -> ApprovalRow | None:
    """Return the open question of a binding, or write a new one.

    `None` if it would be a new one and `most` questions of its subject are pending already. The
    caller holds the transaction that makes callers of one subject wait for each other.

    A row that `judge` rejects was written by somebody else: it is voided, and a new question is
    written. Raises `StoreError` if the database does not let that happen.
    """
    forged = 0
    while forged <= _MAX_FORGED:
        session.change(_EXPIRE, values)
        # Whoever loses the race to insert finds the winner's row on the next turn.
        rows = session.query(_FIND_OPEN, values)
        if not rows:
            if most is not None and session.query(_COUNT_OF, values)[0][0] >= most:
                return None
            rows = session.query(_INSERT, values)
            if rows and sign is not None:
                rows = [_signed(session, rows[0], sign)]
        if not rows:
            continue
        row = approval(rows[0])
        if judge is None or judge(row, answers(session, row.number)):
            return row
        forged += 1
        session.change(_VOID, {"number": row.number, "now": values["now"]})
    raise StoreError("the database does not keep questions as they are written")


def _signed(session: Session, row: Row, sign: Sign) -> Row:
    mac = sign(approval(row))
    if session.change(_SIGN, {"number": row[0], "mac": mac}) != 1:
        raise StoreError("the database did not keep the signature of a question")
    return (*row[:-1], mac)


@dataclass(frozen=True, slots=True)
class Said:
    """One person's answer to one question.

    `seen` is the edit that the person saw, and `edit` the one that stands after the answer; both
    JSON, empty for none. `expires` is when the answer is void, and `grant` what to give where the
    question ends as approved; `sign_grant` signs it. `mac` is the signature of the answer. `token`
    is spent when a denial ends the question; an answer does not count if it is spent already.
    `notify` is the channel on which other processes are told.
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
    mac: str = ""
    token: str | None = None
    sign_grant: Callable[[GrantRow], str] | None = None
    notify: str | None = None


def answer(session: Session, said: Said) -> bool:
    """Answer a pending question; whether this answer counts.

    One denial ends it; it is approved once as many people as it needs have said so.
    """
    values: dict[str, Any] = _storable({name: getattr(said, name) for name in _OF_ANSWER})
    values |= {
        "edit": said.edit or None,
        "said": said.edit if said.is_allowed else "",
        "is_allowed": int(said.is_allowed),
    }
    held = _hold(session, said, values)
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
        if said.token is not None:
            claims.spend(session, said.token, now=said.now, expires=said.expires)
    elif session.query(_AGREED, values)[0][0] >= needed:
        _end(session, values, ApprovalState.APPROVED)
        if said.grant is not None:
            _give(session, said.grant, said.sign_grant)
    if said.notify is not None:
        session.announce(said.notify, said.number)
    return True


def _hold(session: Session, said: Said, values: dict[str, Any]) -> list[Row]:
    """Hold the row of a pending question until the end of the transaction, if it is there."""
    if said.token is not None and claims.is_spent(session, said.token):
        return []
    return session.query(_HOLD if said.is_allowed else _HOLD_TO_DENY, values)


def _storable(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: storable(one) if isinstance(one, str) else one for key, one in values.items()}


def _end(session: Session, values: dict[str, Any], state: ApprovalState) -> None:
    session.change(_ANSWER, {**values, "state": str(state)})


def _give(
    session: Session, grant: Mapping[str, Any], sign: Callable[[GrantRow], str] | None
) -> None:
    """A grant for a conversation is for the one that goes on."""
    conversation = None
    if grant["is_for_conversation"]:
        conversation = past.begun(session, grant["subject"], grant["client"])
        if conversation is None:
            return
    kept = {name: one for name, one in grant.items() if name != "is_for_conversation"}
    grants.give(session, {**_storable(kept), "conversation": conversation}, sign=sign)


def answers(session: Session, number: int) -> list[AnswerRow]:
    """What was said to one question, oldest first."""
    sql = (
        "SELECT number, person, is_allowed, channel, strength, at, message, edit, expires, mac "
        "FROM answers "
        "WHERE number = :number ORDER BY at, person"
    )
    return [
        AnswerRow(one, person, bool(is_allowed), *rest)
        for one, person, is_allowed, *rest in session.query(sql, {"number": number})
    ]


def pending_among(session: Session, numbers: Collection[int], now: float) -> set[int]:
    """Return those of some questions that still wait for an answer."""
    # Numbers, so they can stand in the statement: thousands of parameters would take longer.
    places = ", ".join(str(int(number)) for number in numbers)
    sql = (
        f"SELECT number FROM approvals WHERE number IN ({places}) "
        "AND state = 'pending' AND expires > :now"
    )
    return {number for (number,) in session.query(sql, {"now": now})} if numbers else set()


def use(
    session: Session, values: dict[str, Any], *, token: str | None = None, expires: float = 0.0
) -> bool:
    """Use an approval, and spend its token; whether it was there to use."""
    if session.change(_USE, values) != 1:
        return False
    return token is None or claims.spend(session, token, now=values["now"], expires=expires)


def withdraw(
    session: Session,
    number: int,
    now: float,
    *,
    token: str | None = None,
    notify: str | None = None,
) -> bool:
    """Let a question expire now, and spend its token; whether it was open."""
    if token is not None:
        claims.spend(session, token, now=now, expires=now)
    is_open = session.change(_WITHDRAW, {"number": number, "now": now}) == 1
    if is_open and notify is not None:
        session.announce(notify, number)
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
    """Return the rows of questions that wait, one of each subject in turn.

    First the oldest of each subject, then the second of each, and so on: many questions of one
    subject come after the first of another. `after` is the number of the last row of the page
    before; a question of the same subject that was settled meanwhile moves its later ones up.
    """
    values = {"now": now, "limit": limit, "after": after}
    turn = session.query(_TURN_OF, values)[0][0] if after else 0
    return session.query(_IN_TURNS, {**values, "turn": turn})


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
    sql = f"SELECT count(*) FROM approvals WHERE {_PENDING}"
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
