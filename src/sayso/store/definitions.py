"""Tools as their servers define them, one row per tool. A changed definition may be held in it."""

from collections.abc import Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Final

from sayso.store.recording import Seal
from sayso.store.rows import DefinitionRow, Known, RecordRow, storable
from sayso.store.session import Session

if TYPE_CHECKING:
    from sayso.store.executor import Executor

_COLUMNS: Final = (
    "place, tool, server, definition, mark, since, held, held_mark, held_since, "
    "accepted, accepted_by, accepted_at, revision"
)
# If another process updated the row meanwhile, its revision differs and the row does not change.
_PUT: Final = f"""INSERT INTO definitions ({_COLUMNS})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (place, tool) DO UPDATE SET
    definition = excluded.definition, mark = excluded.mark, since = excluded.since,
    held = excluded.held, held_mark = excluded.held_mark, held_since = excluded.held_since,
    revision = excluded.revision WHERE definitions.revision = excluded.revision - 1"""
_KNOWN: Final = "SELECT tool, mark, accepted, held_mark FROM definitions WHERE place = :place"
_ACCEPT: Final = """UPDATE definitions SET definition = held, mark = held_mark, since = :now,
    held = NULL, held_mark = NULL, held_since = NULL, accepted = held_mark,
    accepted_by = :by, accepted_at = :now, revision = revision + 1
    WHERE place = :place AND tool = :tool AND held_mark = :mark"""


class Definitions:
    """The definitions of tools, by their server's address or command (`place`) and their name."""

    def __init__(self, executor: "Executor") -> None:
        self._executor = executor

    async def known(self, place: str) -> dict[str, Known]:
        rows = await self._executor.query(_KNOWN, {"place": place})
        return {tool: Known(*marks) for tool, *marks in rows}

    async def all(self, place: str | None = None, *, is_held: bool = False) -> list[DefinitionRow]:
        where = "WHERE held IS NOT NULL" if is_held else "WHERE true"
        if place is not None:
            where = f"{where} AND place = :place"
        sql = f"SELECT {_COLUMNS} FROM definitions {where} ORDER BY server, tool, place"
        rows = await self._executor.query(sql, {"place": place})
        return [DefinitionRow(*row) for row in rows]

    async def put(self, rows: Sequence[DefinitionRow]) -> None:
        """Write definitions of new tools, or the next revision of known ones.

        A row that another process has updated meanwhile does not change.
        """
        await self._executor.write(
            lambda session: session.insert(_PUT, [astuple(row) for row in rows])
        )

    async def accept(
        self, row: DefinitionRow, *, by: str, now: float, record: RecordRow, seal: Seal | None
    ) -> bool:
        """Accept a tool's held (changed, not yet accepted) definition, and write `record`.

        Returns `False` and writes nothing if the held definition is no longer that of `row`.
        """
        values = {"place": row.place, "tool": row.tool, "mark": row.held_mark}
        values |= {"by": storable(by), "now": now}
        return await self._executor.write_recorded(
            lambda session: session.change(_ACCEPT, values) == 1, record, seal
        )


def drop_of(session: Session, subject: str) -> None:
    """Erase a person's name from the definitions that the person accepted."""
    sql = "UPDATE definitions SET accepted_by = 'erased' WHERE accepted_by = :subject"
    session.change(sql, {"subject": subject})
