"""The statements on writers: which are alive, by a lease that they renew."""

from typing import Final

from avow.store.rows import WriterRow
from avow.store.session import Session

_BEAT: Final = """INSERT INTO writers (writer, owner, lease) VALUES (:writer, :owner, :lease)
    ON CONFLICT (writer) DO UPDATE SET lease = excluded.lease"""


def beat(session: Session, writer: str, owner: str, *, seconds: float) -> None:
    """Renew a writer's lease."""
    lease = session.now() + seconds
    session.change(_BEAT, {"writer": writer, "owner": owner, "lease": lease})


def writers(session: Session) -> list[WriterRow]:
    """Those on the list, the oldest lease first."""
    now = session.now()
    rows = session.query("SELECT writer, owner, lease FROM writers ORDER BY lease, writer")
    return [WriterRow(writer, owner, lease <= now) for writer, owner, lease in rows]


def forget(session: Session, writer: str) -> bool:
    """Take one off the list; whether it was there."""
    return session.change("DELETE FROM writers WHERE writer = :writer", {"writer": writer}) == 1
