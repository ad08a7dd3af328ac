"""The statements on what may happen once only: keys of calls with their answers, spent tokens."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from avow.store.rows import storable
from avow.store.session import Session

_REMEMBERED_SECONDS: Final = 30 * 86400.0
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
    """A key that a caller gave to one call, so that it happens once.

    `request` is the digest of what was asked; `answer` is JSON once there is one. `writer` is the
    chain of the process that runs the call.
    """

    key: str
    subject: str
    request: str
    call: str
    writer: str
    answer: str | None = None
    expires: float = 0.0


def claim(session: Session, wanted: Claim, *, now: float) -> Claim:
    """Take a key for a call, unless it is taken; whoever has it is returned."""
    session.change("DELETE FROM claims WHERE expires <= :now", {"now": now})
    values = {name: getattr(wanted, name) for name in wanted.__slots__}
    while True:
        if session.change(_CLAIM, {**values, "subject": storable(wanted.subject)}) == 1:
            return wanted
        # Whoever had it may have let go of it meanwhile; then it is to be had.
        if (found := find(session, wanted.key)) is not None:
            return found


def find(session: Session, key: str) -> Claim | None:
    """Who has a key."""
    rows = session.query(f"SELECT {_COLUMNS} FROM claims WHERE key = :key", {"key": key})
    return Claim(*rows[0]) if rows else None


def running(session: Session, keys: Collection[str]) -> set[tuple[str, str]]:
    """Return those of some keys whose call goes on, each with that call."""
    values = {f"key_{index}": key for index, key in enumerate(keys)}
    names = ", ".join(f":{name}" for name in values)
    sql = (
        f"SELECT key, call FROM claims WHERE key IN ({names}) AND answer IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM records WHERE records.call = claims.call AND records.event = 'outcome')"
    )
    return {(key, call) for key, call in session.query(sql, values)} if values else set()


def keep(session: Session, key: str, call: str) -> bool:
    """Whether a call still has its key; it cannot lose it until this transaction ends."""
    sql = "UPDATE claims SET call = call WHERE key = :key AND call = :call"
    return session.change(sql, {"key": key, "call": call}) == 1


def settle(session: Session, key: str, call: str, answer: str | None) -> None:
    """Keep the answer of the call that has the key; without one, let go of the key."""
    values = {"key": key, "call": call, "answer": answer}
    if answer is None:
        session.change("DELETE FROM claims WHERE key = :key AND call = :call", values)
    else:
        session.change(
            "UPDATE claims SET answer = :answer WHERE key = :key AND call = :call", values
        )


def abandon(session: Session, writer: str) -> None:
    """Let go of the keys of a dead writer's calls that were never sent; the others stay taken."""
    session.change(_ABANDON, {"writer": writer})


def spend(session: Session, token: str, *, now: float, expires: float) -> bool:
    """Use up a token; whether it was there to use.

    It is remembered long after it is void anyway: a clock may be set back.
    """
    session.change("DELETE FROM spent WHERE expires <= :old", {"old": now - _REMEMBERED_SECONDS})
    sql = "INSERT INTO spent (token, expires) VALUES (:token, :expires) ON CONFLICT DO NOTHING"
    return session.change(sql, {"token": token, "expires": expires}) == 1


def is_spent(session: Session, token: str) -> bool:
    """Whether a token was used up."""
    return bool(session.query("SELECT 1 FROM spent WHERE token = :token", {"token": token}))


def drop_of(session: Session, subject: str) -> None:
    """Forget the answers that one person got."""
    session.change("DELETE FROM claims WHERE subject = :subject", {"subject": subject})
