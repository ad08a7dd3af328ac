"""The statements on the processes of one gateway, by a lease that they renew."""

from typing import Final

from avow.store.rows import ReplicaRow
from avow.store.session import Session

_BEAT: Final = """INSERT INTO replicas (id, address, keys, lease)
    VALUES (:id, :address, :keys, :lease)
    ON CONFLICT (id) DO UPDATE SET lease = excluded.lease"""


def beat(session: Session, row: ReplicaRow, *, seconds: float) -> None:
    """Renew the lease of one, and forget those whose lease has run out."""
    now = session.now()
    session.change("DELETE FROM replicas WHERE lease <= :now", {"now": now})
    values = {"id": row.id, "address": row.address, "keys": row.keys, "lease": now + seconds}
    session.change(_BEAT, values)


def listed(session: Session) -> list[ReplicaRow]:
    """Those that live."""
    sql = "SELECT id, address, keys FROM replicas WHERE lease > :now ORDER BY id"
    return [ReplicaRow(*row) for row in session.query(sql, {"now": session.now()})]


def drop(session: Session, name: str) -> None:
    """Forget one."""
    session.change("DELETE FROM replicas WHERE id = :id", {"id": name})
