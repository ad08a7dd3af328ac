"""The statements on grants: given with an answer, used and revoked by conditional updates."""

from typing import Any, Final

from avow.store.rows import GrantRow, storable
from avow.store.session import Session

_FIELDS: Final = (
    "binding, subject, client, span, conversation, body, approval, given_by, channel, created"
)
_COLUMNS: Final = f"number, {_FIELDS}, revoked_at, revoked_by, last_used, uses"
_GIVE: Final = (
    f"INSERT INTO grants ({_FIELDS}) VALUES (:binding, :subject, :client, :span, :conversation, "
    ":body, :approval, :given_by, :channel, :created)"
)
# A grant for a conversation holds while that conversation goes on, and not in the next one.
_HOLDS: Final = """revoked_at IS NULL AND (conversation IS NULL OR EXISTS (
    SELECT 1 FROM conversations WHERE conversations.subject = grants.subject
    AND conversations.client = grants.client AND conversations.started = grants.conversation
    AND conversations.last > :alive))"""
_FIND: Final = (
    f"SELECT {_COLUMNS} FROM grants WHERE binding IN (:narrow, :wide) AND {_HOLDS} "
    "ORDER BY number LIMIT 1"
)
_USE: Final = (
    f"UPDATE grants SET uses = uses + 1, last_used = :now WHERE number = :number AND {_HOLDS}"
)
_KEEP: Final = f"UPDATE grants SET last_used = :now WHERE number = :number AND {_HOLDS}"
_REVOKE: Final = (
    "UPDATE grants SET revoked_at = :now, revoked_by = :by "
    "WHERE number = :number AND revoked_at IS NULL"
)
_NEWEST: Final = (
    f"SELECT {_COLUMNS}, {_HOLDS} FROM grants "
    "ORDER BY revoked_at IS NULL DESC, number DESC LIMIT :limit"
)


def give(session: Session, values: dict[str, Any]) -> None:
    """Write a grant."""
    session.change(_GIVE, values)


def find(session: Session, narrow: str, wide: str, *, alive: float) -> GrantRow | None:
    """The first grant that holds and is for one of two bindings.

    `alive` is the moment since which a conversation must have gone on.
    """
    rows = session.query(_FIND, {"narrow": narrow, "wide": wide, "alive": alive})
    return GrantRow(*rows[0]) if rows else None


def use(session: Session, number: int, *, now: float, alive: float) -> bool:
    """Count one use of a grant; whether it still holds."""
    return session.change(_USE, {"number": number, "now": now, "alive": alive}) == 1


def keep(session: Session, number: int, *, now: float, alive: float) -> bool:
    """Whether a grant still holds; until this transaction ends, nobody takes it back."""
    return session.change(_KEEP, {"number": number, "now": now, "alive": alive}) == 1


def revoke(session: Session, number: int, *, by: str, now: float) -> bool:
    """Take a grant back; whether it was there to take."""
    return session.change(_REVOKE, {"number": number, "by": storable(by), "now": now}) == 1


def newest(session: Session, limit: int, *, alive: float) -> list[GrantRow]:
    """The newest grants, those that were not revoked first."""
    rows = session.query(_NEWEST, {"limit": limit, "alive": alive})
    return [GrantRow(*row[:-1], holds=bool(row[-1])) for row in rows]


def drop_of(session: Session, subject: str) -> None:
    """Delete what was granted to one person, and who else's grants that person gave."""
    values = {"subject": subject}
    session.change("DELETE FROM grants WHERE subject = :subject", values)
    for column in ("given_by", "revoked_by"):
        sql = f"UPDATE grants SET {column} = 'erased' WHERE {column} = :subject"
        session.change(sql, values)
