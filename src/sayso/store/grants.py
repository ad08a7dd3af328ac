"""Grants: standing answers to questions, used and revoked by conditional updates."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from sayso.errors import StoreError
from sayso.store import tokens
from sayso.store.recording import Seal
from sayso.store.rows import GrantRow, RecordRow, storable
from sayso.store.session import Session

if TYPE_CHECKING:
    from sayso.store.executor import Executor

_FIELDS: Final = (
    "binding, subject, client, span, conversation, body, approval, given_by, channel, created"
)
_COLUMNS: Final = f"number, {_FIELDS}, revoked_at, revoked_by, last_used, uses, mac"
_GIVE: Final = (
    f"INSERT INTO grants ({_FIELDS}) VALUES (:binding, :subject, :client, :span, :conversation, "
    f":body, :approval, :given_by, :channel, :created) RETURNING {_COLUMNS}"
)
_SIGN: Final = "UPDATE grants SET mac = :mac WHERE number = :number"
_REVOKED_FOR_SECONDS: Final = 100 * 365 * 86_400.0
_MAX_CANDIDATES: Final = 64
"""The maximum number of grants that one lookup reads."""
TokenOf = Callable[[GrantRow], str | None]
"""Returns the token that is spent when a grant is revoked, or `None` if the grant is invalid."""
# A grant for a conversation is valid while this conversation lasts, not in the next one.
_HOLDS: Final = """revoked_at IS NULL AND (conversation IS NULL OR EXISTS (
    SELECT 1 FROM conversations WHERE conversations.subject = grants.subject
    AND conversations.client = grants.client AND conversations.started = grants.conversation
    AND conversations.last > :alive))"""
_FIND: Final = (
    f"SELECT {_COLUMNS} FROM grants WHERE binding IN (:narrow, :wide) AND {_HOLDS} "
    "ORDER BY number LIMIT :most"
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


class Grants:
    """Standing answers. `Questions.answer` writes a grant together with an answer to a question.

    A grant for a conversation is valid while the conversation lasts: its last call must be later
    than `alive` (Unix seconds).
    """

    def __init__(self, executor: "Executor") -> None:
        self._executor = executor

    async def find(
        self, narrow: str, wide: str, *, alive: float, token_of: TokenOf | None = None
    ) -> GrantRow | None:
        """Return the first valid grant for one of two bindings.

        With `token_of`, a grant counts only if the function returns a token that is not spent.
        """
        values = {"narrow": narrow, "wide": wide, "alive": alive, "most": _MAX_CANDIDATES}

        def work(session: Session) -> GrantRow | None:
            for columns in session.query(_FIND, values):
                row = GrantRow(*columns)
                if token_of is None:
                    return row
                token = token_of(row)
                if token is not None and not tokens.is_spent(session, token):
                    return row
            return None

        return await self._executor.read(work)

    async def use(self, number: int, *, now: float, alive: float) -> bool:
        values = {"number": number, "now": now, "alive": alive}
        return await self._executor.change(_USE, values) == 1

    async def revoke(
        self,
        number: int,
        *,
        by: str,
        now: float,
        token: str | None = None,
        record: RecordRow | None = None,
        seal: Seal | None = None,
    ) -> bool:
        """Revoke a grant, spend its `token` and write `record`, all in one transaction.

        Returns `False` and records nothing if the grant was revoked before or does not exist.
        """

        def work(session: Session) -> bool:
            if token is not None:
                tokens.spend(session, token, now=now, expires=now + _REVOKED_FOR_SECONDS)
            return session.change(_REVOKE, {"number": number, "by": storable(by), "now": now}) == 1

        return await self._executor.write_recorded(work, record, seal)

    async def newest(self, *, limit: int = 100, alive: float = 0.0) -> list[GrantRow]:
        rows = await self._executor.query(_NEWEST, {"limit": limit, "alive": alive})
        return [GrantRow(*row[:-1], holds=bool(row[-1])) for row in rows]


def give(
    session: Session, values: dict[str, Any], *, sign: Callable[[GrantRow], str] | None = None
) -> None:
    """Write a grant with its signature. Raises `StoreError` if the database does not store it."""
    rows = session.query(_GIVE, values)
    if not rows:
        raise StoreError("the database did not store a grant")
    if sign is None:
        return
    row = GrantRow(*rows[0])
    if session.change(_SIGN, {"number": row.number, "mac": sign(row)}) != 1:
        raise StoreError("the database did not store the signature of a grant")


def keep(session: Session, number: int, *, now: float, alive: float) -> bool:
    """Return whether a grant is valid. If so, set its last use, and so lock it until the commit."""
    return session.change(_KEEP, {"number": number, "now": now, "alive": alive}) == 1


def drop_of(session: Session, subject: str, now: float) -> None:
    """Delete one person's grants, and revoke those that the person gave to others.

    A grant's signature covers its giver's name, so erasing the name makes the grant invalid.
    """
    values = {"subject": subject, "now": now}
    session.change("DELETE FROM grants WHERE subject = :subject", values)
    session.change(
        "UPDATE grants SET revoked_at = coalesce(revoked_at, :now), "
        "revoked_by = coalesce(revoked_by, 'erased'), given_by = 'erased' "
        "WHERE given_by = :subject",
        values,
    )
    session.change("UPDATE grants SET revoked_by = 'erased' WHERE revoked_by = :subject", values)
