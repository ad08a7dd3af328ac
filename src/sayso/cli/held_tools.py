"""`sayso drift` and `sayso quarantine`: changes and tools that wait for a person's decision."""

import getpass
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

from sayso.cli.commands import App, option
from sayso.cli.options import Json, Store, Yes
from sayso.cli.store_access import keys_of, place_of, run_on
from sayso.cli.terminal import ask_first, listed, out, plural, print_document, show_text
from sayso.errors import UsageError
from sayso.schema import plain, quoted
from sayso.styled import Text

if TYPE_CHECKING:
    from sayso.gateway import Held
    from sayso.keys import Keyring
    from sayso.store import Database, DefinitionRow, QuarantineRow

_SEE_DRIFT: Final = "Run sayso drift."
_SEE_QUARANTINE: Final = "Run sayso quarantine."
_MAX_NAMED: Final = 5
"""Changes that a confirmation names."""

drift = App(name="drift", help="Show tool changes that loosen hints, and accept them.")
quarantine = App(name="quarantine", help="Show tools that broke their contract; release them.")


@drift.default
def show_drift(*, store: Store = None, json: Json = False) -> int:
    """Show the tool changes that loosen hints and wait for a person.

    Until you accept a change, the stricter of the old and new hints counts. Exit code 1 if a
    change waits.
    """
    changes = run_on(store, _changes)
    if json:
        print_document({"held": [change.to_dict() for change in changes]})
        return int(bool(changes))
    for change in changes:
        _print_head(change.row, change.now.name, change.row.held_since or 0.0, _levels(change))
        for part in change.changes:
            sign, style = ("+", "red") if part.is_looser else ("~", "")
            show_text(f"  {sign} {part.what}", style)
    return _end(changes, store, "No change waits for a person")


@drift.command
def accept(
    server: str,
    tool: str | None = None,
    *,
    all_: Annotated[bool, option("--all")] = False,
    place: str | None = None,
    yes: Yes = False,
    store: Store = None,
    json: Json = False,
) -> int:
    """Accept a change: from now on, the tool's new hints count.

    Shows the tools and their changes, and asks first. The log records your name. A running gateway
    applies the change within seconds.

    Parameters
    ----------
    server
        The server's name.
    tool
        The tool's name.
    all_
        Accept all waiting changes of the server.
    place
        If two servers have the same name: the place that sayso drift shows, or its beginning.
    """
    if all_ == (tool is not None):
        raise UsageError("name one tool, or use --all", where="drift accept", fix=_SEE_DRIFT)

    keys = keys_of(store)
    wanted = [
        change
        for change in run_on(store, _changes)
        if _is_at(change.row, server, place) and tool in (None, change.now.name)
    ]
    name = f"{server} {tool or ''}".strip()
    if not wanted:
        raise UsageError(f"no change of “{name}” waits", where="drift accept", fix=_SEE_DRIFT)
    _check_one_place([change.row for change in wanted], server, "drift accept")
    if not yes:
        named = (f"{change.row.server} {change.now.name}: {_levels(change)}" for change in wanted)
        count = f"{len(wanted):,} {plural(len(wanted), 'change')}"
        ask_first(f"Accept {count} ({listed(named, _MAX_NAMED)})?")

    done = run_on(store, partial(_accept, wanted, keys))
    if not done:
        raise UsageError("the tool changed again", where=name, fix=_SEE_DRIFT)
    if json:
        print_document({"accepted": [change.to_dict() for change in done]})
        return 0
    for change in done:
        out().print(plain(f"accepted: {change.row.server} {change.now.name} ({_levels(change)})"))
    return 0


async def _accept(wanted: "Sequence[Held]", keys: "Keyring", database: "Database") -> "list[Held]":
    """Accept the changes, and return those that are still current."""
    from sayso.audit import open_audit
    from sayso.gateway import accept as accept_one

    by = getpass.getuser()
    async with open_audit(database, keys) as log:
        return [
            change
            for change in wanted
            if await accept_one(log, database.definitions, change, by=by)
        ]


@quarantine.default
def show_quarantine(*, store: Store = None, json: Json = False) -> int:
    """Show the tools in quarantine, with the evidence.

    A read-only tool that tried to change something goes into quarantine: it is no longer called.
    Exit code 1 if a tool is in quarantine.
    """
    from sayso.gateway import evidence_of, to_dict

    rows = run_on(store, _quarantines)
    if json:
        print_document({"quarantined": [to_dict(row) for row in rows]})
        return int(bool(rows))
    for row in rows:
        _print_head(row, row.tool, row.since)
        for tried in evidence_of(row):
            show_text(f"  tried: {tried}", "red")
    return _end(rows, store, "No tool is in quarantine")


@quarantine.command
def lift(
    server: str,
    tool: str,
    *,
    place: str | None = None,
    yes: Yes = False,
    store: Store = None,
    json: Json = False,
) -> int:
    """Release a tool from quarantine; it goes back if it breaks its contract again.

    Shows what the tool tried, and asks first. The log records your name. A running gateway calls
    the tool again within seconds.

    Parameters
    ----------
    server
        The server's name.
    tool
        The tool's name.
    place
        If two servers have the same name: the place that sayso quarantine shows, or its beginning.
    """
    from sayso.audit import open_audit
    from sayso.gateway import evidence_of, to_dict
    from sayso.gateway import lift as lift_one

    keys = keys_of(store)
    rows = [
        row
        for row in run_on(store, _quarantines)
        if _is_at(row, server, place) and row.tool == tool
    ]
    if not rows:
        what = f"“{server} {tool}” is not in quarantine"
        raise UsageError(what, where="quarantine lift", fix=_SEE_QUARANTINE)
    _check_one_place(rows, server, "quarantine lift")
    row = rows[0]
    if not yes:
        what = f"{server} {tool}"
        if tried := evidence_of(row):
            more = f" and {len(tried) - 1:,} more" if len(tried) > 1 else ""
            what += f", which tried to {quoted(tried[0])}{more}"
        ask_first(f"Release 1 tool ({what})?")

    async def free(kept: "Database") -> bool:
        async with open_audit(kept, keys) as log:
            return await lift_one(log, kept.quarantines, row, by=getpass.getuser())

    if not run_on(store, free):
        raise UsageError("already released", where=f"{server} {tool}", fix=_SEE_QUARANTINE)
    if json:
        print_document({"lifted": to_dict(row)})
        return 0
    out().print(plain(f"released: {server} {tool}"))
    return 0


async def _changes(kept: "Database") -> "list[Held]":
    from sayso.gateway import held_changes

    return await held_changes(kept.definitions)


async def _quarantines(kept: "Database") -> "list[QuarantineRow]":
    return await kept.quarantines.all()


def _levels(change: "Held") -> str:
    return f"{change.known.level} → {change.now.level}"


def _is_at(row: "DefinitionRow | QuarantineRow", server: str, place: str | None) -> bool:
    return row.server == server and row.place.startswith(place or "")


def _check_one_place(
    rows: "Sequence[DefinitionRow | QuarantineRow]", server: str, command: str
) -> None:
    if len({row.place for row in rows}) > 1:
        what = f"two servers have the name “{server}”"
        raise UsageError(what, where=command, fix="Choose one with --place.")


def _print_head(
    row: "DefinitionRow | QuarantineRow", tool: str, since: float, levels: str = ""
) -> None:
    date = datetime.fromtimestamp(since).astimezone()
    line = Text(plain(f"{row.server} {tool}"), "bold")
    if levels:
        line.append(f"  {levels}", "red")
    line.append(f"  since {date:%Y-%m-%d %H:%M}, place {row.place[:8]}", "dim")
    out().print(line)


def _end(held: Sequence[object], store: str | None, none: str) -> int:
    if not held:
        out().print(plain(f"{none} in {place_of(store)}."))
    return int(bool(held))
