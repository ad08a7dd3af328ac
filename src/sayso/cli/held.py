"""`sayso drift` and `sayso quarantine`: tools that are held back until a person decides."""

import getpass
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import anyio
from cyclopts import App, Parameter
from rich.text import Text

from sayso.cli.asking import ask_first
from sayso.cli.stored import keys_of, opened, place_of
from sayso.cli.terminal import out, print_json
from sayso.errors import UsageError
from sayso.schema import plain, quoted

if TYPE_CHECKING:
    from sayso.gateway import Held
    from sayso.keys import Keyring
    from sayso.store import Database, DefinitionRow, QuarantineRow

_T = TypeVar("_T")

_SCHEMA: Final = 1
_SEE_DRIFT: Final = "See sayso drift."
_SEE_QUARANTINE: Final = "See sayso quarantine."
_MAX_NAMED: Final = 5
"""Changes that are named in the question before they are accepted."""

drift = App(name="drift", help="Show by which changes tools would permit more, and accept them.")
quarantine = App(
    name="quarantine", help="Show which tools broke their contract, and let them be called again."
)


@drift.default
def show_drift(*, store: str | None = None, json: bool = False) -> int:
    """Show the changes that wait for a person, with what each changes.

    Until one is accepted, the stricter of the tool's old and new hints count. Exit code 1 when
    there is one, 0 when there is none.

    Parameters
    ----------
    store
        sqlite:PATH or postgresql://USER@HOST/DATABASE. Default: SAYSO_STORE, or the file in your
        data directory.
    json
        Print one JSON document.
    """
    held = anyio.run(_read, store, _held_changes)
    if json:
        return _print_document("held", [change.to_dict() for change in held])
    for change in held:
        _print_head(change.row, change.now.name, change.row.held_since or 0.0, _levels(change))
        for part in change.changes:
            sign, style = ("+", "red") if part.is_looser else ("~", "")
            out().print(Text(f"  {sign} {plain(part.what)}", style))
    return _end(held, store, "No change waits for a person")


@drift.command
def accept(
    server: str,
    tool: str | None = None,
    *,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    place: str | None = None,
    yes: bool = False,
    store: str | None = None,
    json: bool = False,
) -> int:
    """Let a change count: the tool is taken as its server gives it now.

    Shows which tools change and how, and asks first. The log records it with your name. A running
    gateway follows within seconds.

    Parameters
    ----------
    server
        The server's name.
    tool
        The tool's name there.
    all_
        Accept all changes of the server that sayso drift shows.
    place
        The beginning of the place that sayso drift shows, where two servers have one name.
    yes
        Do not ask.
    store
        Where the tools are remembered; see sayso drift.
    json
        Print one JSON document.
    """
    if all_ == (tool is not None):
        raise UsageError("name one tool, or say --all", where="drift accept", fix=_SEE_DRIFT)

    keys = keys_of(store)
    wanted = _wanted_changes(store, server, tool, place)
    if not yes:
        ask_first(f"Accept {_named(wanted)}?")

    done = anyio.run(_accept, store, keys, wanted)
    if not done:
        what = "the tool changed again since it was shown"
        raise UsageError(what, where=f"{server} {tool or ''}".strip(), fix=_SEE_DRIFT)
    if json:
        print_json({"schema": _SCHEMA, "accepted": [change.to_dict() for change in done]})
        return 0
    for change in done:
        out().print(plain(f"accepted: {change.row.server} {change.now.name} ({_levels(change)})"))
    return 0


@quarantine.default
def show_quarantine(*, store: str | None = None, json: bool = False) -> int:
    """Show the tools that are not called any more, with what each tried.

    They count as read-only, and tried to change something. Exit code 1 when there is one, 0 when
    there is none.

    Parameters
    ----------
    store
        sqlite:PATH or postgresql://USER@HOST/DATABASE. Default: SAYSO_STORE, or the file in your
        data directory.
    json
        Print one JSON document.
    """
    from sayso.gateway import evidence_of, to_dict

    rows = anyio.run(_read, store, _quarantines)
    if json:
        return _print_document("quarantined", [to_dict(row) for row in rows])
    for row in rows:
        _print_head(row, row.tool, row.since)
        for tried in evidence_of(row):
            out().print(Text(f"  tried: {plain(tried)}", "red"))
    return _end(rows, store, "No tool is in quarantine")


@quarantine.command
def lift(
    server: str,
    tool: str,
    *,
    place: str | None = None,
    yes: bool = False,
    store: str | None = None,
    json: bool = False,
) -> int:
    """Let a tool be called again. If it breaks its contract once more, it comes back.

    Shows what the tool tried, and asks first. The log records it with your name. A running gateway
    follows within seconds.

    Parameters
    ----------
    server
        The server's name.
    tool
        The tool's name there.
    place
        The beginning of the place that sayso quarantine shows, where two servers have one name.
    yes
        Do not ask.
    store
        Where it is remembered; see sayso quarantine.
    json
        Print one JSON document.
    """
    from sayso.audit import open_audit
    from sayso.gateway import evidence_of, to_dict
    from sayso.gateway import lift as lift_one

    keys = keys_of(store)
    row = _quarantined(store, server, tool, place)
    if not yes:
        tried = evidence_of(row)
        more = f" and {len(tried) - 1:,} more" if len(tried) > 1 else ""
        why = f", which tried to {quoted(tried[0])}{more}" if tried else ""
        ask_first(f"Let 1 tool be called again ({server} {tool}{why})?")

    async def run() -> bool:
        async with opened(store) as kept, open_audit(kept, keys) as log:
            return await lift_one(log, kept.quarantines, row, by=getpass.getuser())

    if not anyio.run(run):
        where = f"{server} {tool}"
        raise UsageError("it was lifted meanwhile", where=where, fix=_SEE_QUARANTINE)
    if json:
        print_json({"schema": _SCHEMA, "lifted": to_dict(row)})
        return 0
    out().print(plain(f"lifted: {server} {tool}"))
    return 0


async def _accept(store: str | None, keys: "Keyring", wanted: "list[Held]") -> "list[Held]":
    from sayso.audit import open_audit
    from sayso.gateway import accept as accept_one

    by = getpass.getuser()
    async with opened(store) as kept, open_audit(kept, keys) as log:
        return [
            change for change in wanted if await accept_one(log, kept.definitions, change, by=by)
        ]


def _named(changes: "list[Held]") -> str:
    shown = [
        f"{change.row.server} {change.now.name}: {_levels(change)}"
        for change in changes[:_MAX_NAMED]
    ]
    if len(changes) > _MAX_NAMED:
        shown.append(f"{len(changes) - _MAX_NAMED:,} more")
    return f"{len(changes):,} {'change' if len(changes) == 1 else 'changes'} ({', '.join(shown)})"


def _levels(change: "Held") -> str:
    return f"{change.known.level} → {change.now.level}"


async def _read(store: str | None, ask: "Callable[[Database], Awaitable[_T]]") -> _T:
    async with opened(store) as kept:
        return await ask(kept)


async def _held_changes(kept: "Database") -> "list[Held]":
    from sayso.gateway import held_changes

    return await held_changes(kept.definitions)


async def _quarantines(kept: "Database") -> "list[QuarantineRow]":
    return await kept.quarantines.all()


def _wanted_changes(
    store: str | None, server: str, tool: str | None, place: str | None
) -> "list[Held]":
    wanted = [
        change
        for change in anyio.run(_read, store, _held_changes)
        if change.row.server == server
        and tool in (None, change.now.name)
        and change.row.place.startswith(place or "")
    ]
    if not wanted:
        what = f"no change of “{server}{f' {tool}' if tool else ''}” waits"
        raise UsageError(what, where="drift accept", fix=_SEE_DRIFT)
    _check_one_place((change.row.place for change in wanted), server, "drift accept")
    return wanted


def _quarantined(store: str | None, server: str, tool: str, place: str | None) -> "QuarantineRow":
    rows = [
        row
        for row in anyio.run(_read, store, _quarantines)
        if (row.server, row.tool) == (server, tool) and row.place.startswith(place or "")
    ]
    if not rows:
        what = f"“{server} {tool}” is not in quarantine"
        raise UsageError(what, where="quarantine lift", fix=_SEE_QUARANTINE)
    _check_one_place((row.place for row in rows), server, "quarantine lift")
    return rows[0]


def _check_one_place(places: Iterable[str], server: str, command: str) -> None:
    if len(set(places)) > 1:
        what = f"two servers are called “{server}”"
        raise UsageError(what, where=command, fix="Say which with --place.")


def _print_document(key: str, entries: Sequence[Mapping[str, Any]]) -> int:
    print_json({"schema": _SCHEMA, key: entries})
    return int(bool(entries))


def _print_head(
    row: "DefinitionRow | QuarantineRow", tool: str, since: float, levels: str = ""
) -> None:
    date = datetime.fromtimestamp(since).astimezone()
    line = Text(plain(f"{row.server} {tool}"), "bold")
    if levels:
        line.append(f"  {levels}", "not bold red")
    line.append(f"  since {date:%Y-%m-%d %H:%M}, place {row.place[:8]}", "not bold dim")
    out().print(line)


def _end(held: Sequence[object], store: str | None, none: str) -> int:
    if not held:
        out().print(plain(f"{none} in {place_of(store)}."), soft_wrap=True)
    return int(bool(held))
