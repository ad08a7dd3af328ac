"""`avow drift`: changes by which a server's tools would permit more, and accepting them."""

import getpass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final

import anyio
from cyclopts import App, Parameter
from rich.text import Text

from avow.cli.asking import ask_first
from avow.cli.stored import keys_of, opened, place_of
from avow.cli.terminal import out, print_json
from avow.errors import UsageError
from avow.schema.plain import plain

if TYPE_CHECKING:
    from avow.gateway.drift import Held

_SCHEMA: Final = 1
_SEE: Final = "See avow drift."
_MAX_NAMED: Final = 5
"""Changes that are named in the question before they are accepted."""

app = App(name="drift", help="Show by which changes tools would permit more, and accept them.")


@app.default
def show(*, store: str | None = None, json: bool = False) -> int:
    """Show the changes that wait for a person, with what each changes.

    Until one is accepted, the stricter of the tool's old and new hints count. Exit code 1 when
    there is one, 0 when there is none.

    Parameters
    ----------
    store
        sqlite:PATH or postgresql://USER@HOST/DATABASE. Default: AVOW_STORE, or the file in your
        data directory.
    json
        Print one JSON document.
    """
    found = anyio.run(_held, store)
    if json:
        print_json({"schema": _SCHEMA, "held": [one.to_dict() for one in found]})
        return int(bool(found))
    for one in found:
        _print(one)
    if not found:
        out().print(plain(f"No change waits for a person in {place_of(store)}."), soft_wrap=True)
    return int(bool(found))


@app.command
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
        Accept all changes of the server that avow drift shows.
    place
        The beginning of the place that avow drift shows, where two servers have one name.
    yes
        Do not ask.
    store
        Where the tools are remembered; see avow drift.
    json
        Print one JSON document.
    """
    from avow.audit import open_audit
    from avow.gateway.drift import accept as accept_one

    if all_ == (tool is not None):
        raise UsageError("name one tool, or say --all", where="drift accept", fix=_SEE)
    keys = keys_of(store)

    wanted = _wanted(anyio.run(_held, store), server, tool, place)
    if not yes:
        ask_first(f"Accept {_named(wanted)}?")

    async def run() -> list["Held"]:
        async with opened(store) as kept, open_audit(kept, keys) as log:
            by = getpass.getuser()
            return [one for one in wanted if await accept_one(log, one, by=by)]

    done = anyio.run(run)
    if not done:
        what = "the change is another one by now"
        raise UsageError(what, where=f"{server} {tool or ''}".strip(), fix=_SEE)
    if json:
        print_json({"schema": _SCHEMA, "accepted": [one.to_dict() for one in done]})
        return 0
    for one in done:
        out().print(plain(f"accepted: {one.row.server} {one.now.name} ({_levels(one)})"))
    return 0


def _named(held: list["Held"]) -> str:
    """Return how many changes these are, and of which tools, for a question."""
    shown = [f"{one.row.server} {one.now.name}: {_levels(one)}" for one in held[:_MAX_NAMED]]
    if len(held) > _MAX_NAMED:
        shown.append(f"{len(held) - _MAX_NAMED:,} more")
    return f"{len(held):,} {'change' if len(held) == 1 else 'changes'} ({', '.join(shown)})"


def _levels(one: "Held") -> str:
    return f"{one.known.level} → {one.now.level}"


def _wanted(held: list["Held"], server: str, tool: str | None, place: str | None) -> list["Held"]:
    found = [
        one
        for one in held
        if one.row.server == server
        and tool in (None, one.now.name)
        and one.row.place.startswith(place or "")
    ]
    if not found:
        what = f"no change of “{server}{f' {tool}' if tool else ''}” waits"
        raise UsageError(what, where="drift accept", fix=_SEE)
    if len({one.row.place for one in found}) > 1:
        what = f"two servers are called “{server}”"
        raise UsageError(what, where="drift accept", fix="Say which with --place.")
    return found


async def _held(store: str | None) -> list["Held"]:
    from avow.gateway.drift import held_changes

    async with opened(store) as kept:
        return await held_changes(kept)


def _print(one: "Held") -> None:
    row = one.row
    since = datetime.fromtimestamp(row.held_since or 0.0).astimezone()
    told = Text(plain(f"{row.server} {one.now.name}"), "bold")
    told.append(f"  {one.known.level} → {one.now.level}", "not bold red")
    told.append(f"  since {since:%Y-%m-%d %H:%M}, place {row.place[:8]}", "not bold dim")
    out().print(told)
    for change in one.changes:
        sign, style = ("+", "red") if change.is_looser else ("~", "")
        out().print(Text(f"  {sign} {plain(change.what)}", style))
