"""Answers to questions. One transaction writes an answer and all its consequences."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from sayso.store import grants, tokens, usage
from sayso.store.rows import AnswerRow, ApprovalState, GrantRow, storable
from sayso.store.session import Session

# Sets the new edit, and locks the row until the end of the transaction. The condition on `edit`
# ensures that the person saw the current arguments.
_HOLD: Final = (
    "UPDATE approvals SET edit = :edit WHERE number = :number AND state = 'pending' "
    "AND expires > :at AND coalesce(edit, '') = :seen RETURNING needed"
)
# Locks the row only: a denial applies to any arguments.
_HOLD_TO_DENY: Final = (
    "UPDATE approvals SET needed = needed WHERE number = :number AND state = 'pending' "
    "AND expires > :at RETURNING needed"
)
_UNSAY: Final = "DELETE FROM answers WHERE number = :number AND person = :person"
_SAY: Final = (
    "INSERT INTO answers "
    "(number, person, is_allowed, channel, strength, at, message, edit, expires, mac) VALUES "
    "(:number, :person, :is_allowed, :channel, :strength, :at, :message, :signed_edit, :expires, "
    ":mac) ON CONFLICT (number, person) DO NOTHING"
)
_AGREED: Final = "SELECT count(*) FROM answers WHERE number = :number AND is_allowed = 1"
_ANSWER: Final = (
    "UPDATE approvals SET state = :state, answered_by = :person, channel = :channel, "
    "answered_at = :at, expires = :expires WHERE number = :number"
)


def answer(
    session: Session,
    row: AnswerRow,
    *,
    seen: str = "",
    grant: Mapping[str, Any] | None = None,
    sign_grant: Callable[[GrantRow], str] | None = None,
    token: str | None = None,
    notify: str | None = None,
) -> bool:
    """Answer a pending question; return whether this answer counts.

    One denial ends the question. It is approved when enough people have agreed; then `grant` is
    given, signed by `sign_grant`. `seen` holds the edited arguments that the person
    saw, as JSON, or "". An answer with a spent single-use `token` does not count; a denial spends
    it. `notify` is the database channel that tells other processes.
    """
    if token is not None and tokens.is_spent(session, token):
        return False
    values = _storable(asdict(row))
    values |= {
        "is_allowed": int(row.is_allowed),
        "edit": row.edit or None,
        "signed_edit": row.edit if row.is_allowed else "",
        "seen": storable(seen),
    }
    locked = session.query(_HOLD if row.is_allowed else _HOLD_TO_DENY, values)
    if not locked:
        return False
    if not row.is_allowed:
        session.change(_UNSAY, values)
    elif row.edit != seen:
        # This answer edits the arguments, so earlier answers agreed to other arguments.
        session.change("DELETE FROM answers WHERE number = :number", values)
    if session.change(_SAY, values) != 1:
        return False
    if not row.is_allowed:
        _end(session, values, ApprovalState.DENIED)
        if token is not None:
            tokens.spend(session, token, now=row.at, expires=row.expires)
    elif session.query(_AGREED, values)[0][0] >= locked[0][0]:
        _end(session, values, ApprovalState.APPROVED)
        _give(session, grant, sign_grant)
    if notify is not None:
        session.announce(notify, row.number)
    return True


def _storable(values: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: storable(value) for name, value in values.items() if isinstance(value, str)}
    return {**values, **texts}


def _end(session: Session, values: dict[str, Any], state: ApprovalState) -> None:
    session.change(_ANSWER, {**values, "state": str(state)})


def _give(
    session: Session, grant: Mapping[str, Any] | None, sign: Callable[[GrantRow], str] | None
) -> None:
    if grant is None:
        return
    conversation = None
    if grant["is_for_conversation"]:
        conversation = usage.begun(session, grant["subject"], grant["client"])
        if conversation is None:
            return
    kept = _storable(grant)
    del kept["is_for_conversation"]
    grants.give(session, {**kept, "conversation": conversation}, sign=sign)


def answers(session: Session, number: int) -> list[AnswerRow]:
    """Return the answers to one question, oldest first."""
    sql = (
        "SELECT number, person, is_allowed, channel, strength, at, message, edit, expires, mac "
        "FROM answers "
        "WHERE number = :number ORDER BY at, person"
    )
    return [
        AnswerRow(question, person, bool(is_allowed), *rest)
        for question, person, is_allowed, *rest in session.query(sql, {"number": number})
    ]
