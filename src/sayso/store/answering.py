"""Answers to questions: one person's each, written in one transaction with what they decide."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.store import grants, tokens, usage
from sayso.store.rows import AnswerRow, ApprovalState, GrantRow, storable
from sayso.store.session import Row, Session

# An answer holds the row until the end of the transaction. It is about the arguments as the person
# saw them.
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


@dataclass(frozen=True, slots=True)
class Said:
    """One person's answer to one question.

    `seen` is the edit that the person saw, and `edit` the one that stands after the answer; both
    JSON, empty for none. `expires` is when the answer is void, and `grant` what to give where the
    question ends as approved; `sign_grant` signs it. `mac` is the signature of the answer. `token`
    is spent when a denial ends the question; an answer does not count if it is spent already.
    `notify` is the channel on which other processes are notified.
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
    """Answer a pending question; return whether this answer counts.

    One denial ends it; it is approved once as many people as it needs have agreed.
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
        # Earlier answers agreed to something else.
        session.change("DELETE FROM answers WHERE number = :number", values)
    if session.change(_SAY, values) != 1:
        return False
    needed, _ = held[0]
    if not said.is_allowed:
        _end(session, values, ApprovalState.DENIED)
        if said.token is not None:
            tokens.spend(session, said.token, now=said.now, expires=said.expires)
    elif session.query(_AGREED, values)[0][0] >= needed:
        _end(session, values, ApprovalState.APPROVED)
        if said.grant is not None:
            _give(session, said.grant, said.sign_grant)
    if said.notify is not None:
        session.announce(said.notify, said.number)
    return True


def _hold(session: Session, said: Said, values: dict[str, Any]) -> list[Row]:
    """Lock the row of a pending question until the end of the transaction, if it is there."""
    if said.token is not None and tokens.is_spent(session, said.token):
        return []
    return session.query(_HOLD if said.is_allowed else _HOLD_TO_DENY, values)


def _storable(values: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: storable(value) for name, value in values.items() if isinstance(value, str)}
    return {**values, **texts}


def _end(session: Session, values: dict[str, Any], state: ApprovalState) -> None:
    session.change(_ANSWER, {**values, "state": str(state)})


def _give(
    session: Session, grant: Mapping[str, Any], sign: Callable[[GrantRow], str] | None
) -> None:
    """Add a grant; one for a conversation is for the current one."""
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
