"""The statements on tools that are not called until a person says so."""

from dataclasses import astuple

from avow.store.rows import QuarantineRow
from avow.store.session import Session


def add(session: Session, row: QuarantineRow) -> bool:
    """Put a tool into quarantine; `False` where it is there already."""
    sql = """INSERT INTO quarantines (place, tool, server, since, evidence)
        VALUES (:place, :tool, :server, :since, :evidence) ON CONFLICT (place, tool) DO NOTHING"""
    names = ("place", "tool", "server", "since", "evidence")
    return session.change(sql, dict(zip(names, astuple(row), strict=True))) == 1


def listed(session: Session, place: str | None) -> list[QuarantineRow]:
    """The tools of one server or of all that are in quarantine."""
    where = "" if place is None else " WHERE place = :place"
    sql = f"SELECT place, tool, server, since, evidence FROM quarantines{where}"
    found = session.query(f"{sql} ORDER BY server, tool, place", {"place": place} if place else {})
    return [QuarantineRow(*row) for row in found]


def lift(session: Session, row: QuarantineRow) -> bool:
    """Take a tool out of it; whether it was there for this very reason."""
    sql = "DELETE FROM quarantines WHERE place = :place AND tool = :tool AND since = :since"
    return session.change(sql, {"place": row.place, "tool": row.tool, "since": row.since}) == 1
