"""Idempotency keys: one call claims each key, and the key stores the call's answer."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sayso.store.rows import storable
from sayso.store.session import Session

if TYPE_CHECKING:
    from sayso.store.executor import Executor

_COLUMNS: Final = "key, subject, request, call, writer, answer, expires"
_CLAIM: Final = (
    f"INSERT INTO claims ({_COLUMNS}) "
    "VALUES (:key, :subject, :request, :call, :writer, NULL, :expires) "
    "ON CONFLICT (key) DO NOTHING"
)
_ABANDON: Final = (
    "DELETE FROM claims WHERE writer = :writer AND answer IS NULL AND NOT EXISTS "
    "(SELECT 1 FROM records WHERE records.call = claims.call AND records.event = 'attempt')"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """An idempotency key that one call has claimed, so that the call happens once.

    `request` is the digest of the request. `answer` is JSON, or `None` while there is no answer.
    `writer` is the chain of the process that runs the call.
    """

    key: str
    subject: str
    request: str
    call: str
    writer: str
    answer: str | None = None
    expires: float = 0.0


class Claims:
    """The idempotency keys that calls have claimed."""

    def __init__(self, executor: "Executor") -> None:
        self._executor = executor

    async def take(self, claim: Claim, *, now: float) -> Claim:
        """Claim a key for a call. Return the key's claim: `claim`, or an earlier one."""
        return await self._executor.write(
            lambda session: take(session, claim, now=now), queue=claim.writer or None
        )

    async def find(self, key: str) -> Claim | None:
        return await self._executor.read(lambda session: _find(session, key))

    async def running(self, keys: Collection[str]) -> set[tuple[str, str]]:
        """Return those of `keys` whose calls are running, each with its call.

        A call is running while its key has no answer and the log has no outcome of the call.
        """
        values = {f"key_{index}": key for index, key in enumerate(keys)}
        names = ", ".join(f":{name}" for name in values) or "NULL"
        sql = f"""SELECT key, call FROM claims WHERE key IN ({names}) AND answer IS NULL
            AND NOT EXISTS (SELECT 1 FROM records
            WHERE records.call = claims.call AND records.event = 'outcome')"""
        return {(key, call) for key, call in await self._executor.query(sql, values)}

    async def settle(self, key: str, call: str, answer: str | None) -> None:
        sql = "UPDATE claims SET answer = :answer WHERE key = :key AND call = :call"
        if answer is None:
            sql = "DELETE FROM claims WHERE key = :key AND call = :call"
        await self._executor.change(sql, {"key": key, "call": call, "answer": answer})


def take(session: Session, claim: Claim, *, now: float) -> Claim:
    """Claim a key for a call. Return the key's claim: `claim`, or an earlier one."""
    session.change("DELETE FROM claims WHERE expires <= :now", {"now": now})
    values = {name: getattr(claim, name) for name in claim.__slots__}
    while True:
        if session.change(_CLAIM, {**values, "subject": storable(claim.subject)}) == 1:
            return claim
        earlier = _find(session, claim.key)
        # If there is no claim, another call has released the key meanwhile: try again.
        if earlier is not None:
            return earlier


def _find(session: Session, key: str) -> Claim | None:
    rows = session.query(f"SELECT {_COLUMNS} FROM claims WHERE key = :key", {"key": key})
    return Claim(*rows[0]) if rows else None


def keep(session: Session, key: str, call: str) -> bool:
    """Return whether a call has this key, and lock the key until the transaction ends."""
    sql = "UPDATE claims SET call = call WHERE key = :key AND call = :call"
    return session.change(sql, {"key": key, "call": call}) == 1


def abandon(session: Session, writer: str) -> None:
    """Release the keys of a dead writer's calls that were never sent; keep its other claims."""
    session.change(_ABANDON, {"writer": writer})


def drop_of(session: Session, subject: str) -> None:
    """Delete one person's idempotency keys, including the answers."""
    session.change("DELETE FROM claims WHERE subject = :subject", {"subject": subject})
