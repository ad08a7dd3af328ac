"""The statements on tools as their servers define them: one row each, however often it changes."""

from collections.abc import Sequence
from dataclasses import astuple
from typing import Final

from avow.store.rows import DefinitionRow, Known, storable
from avow.store.session import Session

_COLUMNS: Final = (
    "place, tool, server, definition, mark, since, held, held_mark, held_since, "
    "accepted, accepted_by, accepted_at, revision"
)
# Whoever wrote the row in the meantime has looked later: then nothing is changed.
_PUT: Final = f"""INSERT INTO definitions ({_COLUMNS})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (place, tool) DO UPDATE SET
    definition = excluded.definition, mark = excluded.mark, since = excluded.since,
    held = excluded.held, held_mark = excluded.held_mark, held_since = excluded.held_since,
    revision = excluded.revision WHERE definitions.revision = excluded.revision - 1"""
_ACCEPT: Final = """UPDATE definitions SET definition = held, mark = held_mark, since = :now,
    held = NULL, held_mark = NULL, held_since = NULL, accepted = held_mark,
    accepted_by = :by, accepted_at = :now, revision = revision + 1
    WHERE place = :place AND tool = :tool AND held_mark = :mark"""


def known(session: Session, place: str) -> dict[str, Known]:
    """What is known of each tool of one server, by name and in short."""
    sql = "SELECT tool, mark, accepted, held_mark FROM definitions WHERE place = :place"
    return {tool: Known(*rest) for tool, *rest in session.query(sql, {"place": place})}


def all_of(session: Session, place: str | None, *, is_held: bool) -> list[DefinitionRow]:
    """The whole rows of one server or of all, or only those of tools that are held."""
    wanted = ["held IS NOT NULL"] if is_held else []
    wanted += [] if place is None else ["place = :place"]
    where = f" WHERE {' AND '.join(wanted)}" if wanted else ""
    sql = f"SELECT {_COLUMNS} FROM definitions{where} ORDER BY server, tool, place"
    return [DefinitionRow(*row) for row in session.query(sql, {"place": place} if place else {})]


def put(session: Session, rows: Sequence[DefinitionRow]) -> None:
    """Write rows that are new, or that follow the ones that stand there."""
    session.insert(_PUT, [astuple(row) for row in rows])


def accept(session: Session, row: DefinitionRow, *, by: str, now: float) -> bool:
    """Have what is held of a tool count; whether it was still that."""
    values = {"place": row.place, "tool": row.tool, "mark": row.held_mark}
    return session.change(_ACCEPT, {**values, "by": storable(by), "now": now}) == 1


def drop_of(session: Session, subject: str) -> None:
    """Forget who accepted a tool."""
    sql = "UPDATE definitions SET accepted_by = 'erased' WHERE accepted_by = :subject"
    session.change(sql, {"subject": subject})
