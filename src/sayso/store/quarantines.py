"""Tools in quarantine: they are not called until a person lifts the quarantine."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from sayso.store.recording import Seal
from sayso.store.rows import QuarantineRow, RecordRow

if TYPE_CHECKING:
    from sayso.store.executor import Executor

_COLUMNS: Final = "place, tool, server, since, evidence"
_ADD: Final = f"""INSERT INTO quarantines ({_COLUMNS})
    VALUES (:place, :tool, :server, :since, :evidence) ON CONFLICT (place, tool) DO NOTHING"""
_LIFT: Final = "DELETE FROM quarantines WHERE place = :place AND tool = :tool AND since = :since"


class Quarantines:
    """The tools in quarantine. One transaction writes each change and its record."""

    def __init__(self, executor: "Executor") -> None:
        self._executor = executor

    async def all(self, place: str | None = None) -> list[QuarantineRow]:
        where = "" if place is None else "WHERE place = :place"
        sql = f"SELECT {_COLUMNS} FROM quarantines {where} ORDER BY server, tool, place"
        rows = await self._executor.query(sql, {"place": place})
        return [QuarantineRow(*row) for row in rows]

    async def add(self, row: QuarantineRow, *, record: RecordRow, seal: Seal | None) -> bool:
        values: dict[str, Any] = asdict(row)
        return await self._executor.write_recorded(
            lambda session: session.change(_ADD, values) == 1, record, seal
        )

    async def lift(self, row: QuarantineRow, *, record: RecordRow, seal: Seal | None) -> bool:
        values = {"place": row.place, "tool": row.tool, "since": row.since}
        return await self._executor.write_recorded(
            lambda session: session.change(_LIFT, values) == 1, record, seal
        )
