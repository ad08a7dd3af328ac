"""The leases of writers: a writer that does not renew its lease counts as dead."""

from typing import Final

from sayso.store.rows import WriterRow
from sayso.store.session import Session

_BEAT: Final = """INSERT INTO writers (writer, owner, lease) VALUES (:writer, :owner, :lease)
    ON CONFLICT (writer) DO UPDATE SET lease = excluded.lease"""


def beat(session: Session, writer: str, owner: str, *, seconds: float) -> None:
    """Renew a writer's lease."""
    lease = session.now() + seconds
    session.change(_BEAT, {"writer": writer, "owner": owner, "lease": lease})


def writers(session: Session) -> list[WriterRow]:
    """Return the writers that have a lease, the oldest first."""
    now = session.now()
    rows = session.query("SELECT writer, owner, lease FROM writers ORDER BY lease, writer")
    return [WriterRow(writer, owner, lease <= now) for writer, owner, lease in rows]


def forget(session: Session, writer: str) -> bool:
    """Delete the lease of a writer; return whether it was there."""
    return session.change("DELETE FROM writers WHERE writer = :writer", {"writer": writer}) == 1
