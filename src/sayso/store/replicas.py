"""The replicas (processes) of one gateway, each with a lease that it renews."""

from typing import TYPE_CHECKING, Final

from sayso.store.rows import ReplicaRow
from sayso.store.session import Session

if TYPE_CHECKING:
    from sayso.store.executor import Executor

_BEAT: Final = """INSERT INTO replicas (id, address, keys, lease)
    VALUES (:id, :address, :keys, :lease)
    ON CONFLICT (id) DO UPDATE SET lease = excluded.lease"""


class Replicas:
    """The processes of a gateway."""

    def __init__(self, executor: "Executor") -> None:
        self._executor = executor

    async def beat(self, row: ReplicaRow, *, seconds: float) -> None:
        """Renew the lease of a process, and delete processes whose lease has expired."""

        def work(session: Session) -> None:
            now = session.now()
            session.change("DELETE FROM replicas WHERE lease <= :now", {"now": now})
            values = {"id": row.id, "address": row.address, "keys": row.keys}
            session.change(_BEAT, {**values, "lease": now + seconds})

        await self._executor.write(work)

    async def all(self) -> list[ReplicaRow]:
        return await self._executor.read(_all)

    async def drop(self, name: str) -> None:
        sql = "DELETE FROM replicas WHERE id = :id"
        await self._executor.change(sql, {"id": name})


def _all(session: Session) -> list[ReplicaRow]:
    sql = "SELECT id, address, keys FROM replicas WHERE lease > :now ORDER BY id"
    return [ReplicaRow(*row) for row in session.query(sql, {"now": session.now()})]
