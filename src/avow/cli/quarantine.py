"""`avow quarantine`: tools that broke their contract, and letting them be called again."""

import getpass
from datetime import datetime
from typing import TYPE_CHECKING, Final

import anyio
from cyclopts import App
from rich.text import Text

from avow.cli.asking import ask_first
from avow.cli.stored import keys_of, opened, place_of
from avow.cli.terminal import out, print_json
from avow.errors import UsageError
from avow.schema.plain import plain, quoted

if TYPE_CHECKING:
    from avow.store import QuarantineRow

_SCHEMA: Final = 1
_SEE: Final = "See avow quarantine."

app = App(
    name="quarantine", help="Show which tools broke their contract, and let them be called again."
)


@app.default
def show(*, store: str | None = None, json: bool = False) -> int:
    """Show the tools that are not called any more, with what each tried.

    They count as read-only, and tried to change something. Exit code 1 when there is one, 0 when
    there is none.

    Parameters
    ----------
    store
        sqlite:PATH or postgresql://USER@HOST/DATABASE. Default: AVOW_STORE, or the file in your
        data directory.
    json
        Print one JSON document.
    """
    from avow.gateway.quarantine import to_dict

    found = anyio.run(_held, store)
    if json:
        print_json({"schema": _SCHEMA, "quarantined": [to_dict(one) for one in found]})
        return int(bool(found))
    for one in found:
        _print(one)
    if not found:
        out().print(plain(f"No tool is in quarantine in {place_of(store)}."), soft_wrap=True)
    return int(bool(found))


@app.command
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
        The beginning of the place that avow quarantine shows, where two servers have one name.
    yes
        Do not ask.
    store
        Where it is remembered; see avow quarantine.
    json
        Print one JSON document.
    """
    from avow.audit import open_audit
    from avow.gateway.quarantine import lift as lift_one
    from avow.gateway.quarantine import to_dict

    keys = keys_of(store)

    wanted = _wanted(anyio.run(_held, store), server, tool, place)
    if not yes:
        _ask_about(wanted)

    async def run() -> bool:
        async with opened(store) as kept, open_audit(kept, keys) as log:
            return await lift_one(log, wanted, by=getpass.getuser())

    if not anyio.run(run):
        raise UsageError("it was lifted meanwhile", where=f"{server} {tool}", fix=_SEE)
    if json:
        print_json({"schema": _SCHEMA, "lifted": to_dict(wanted)})
        return 0
    out().print(plain(f"lifted: {wanted.server} {wanted.tool}"))
    return 0


def _ask_about(row: "QuarantineRow") -> None:
    """Ask whether a tool may be called again, with the first thing that it tried."""
    from avow.gateway.quarantine import evidence_of

    tried = evidence_of(row)
    more = f" and {len(tried) - 1:,} more" if len(tried) > 1 else ""
    why = f", which tried to {quoted(tried[0])}{more}" if tried else ""
    name = f"{row.server} {row.tool}"
    ask_first(f"Let 1 tool be called again ({name}{why})?")


def _wanted(
    held: "list[QuarantineRow]", server: str, tool: str, place: str | None
) -> "QuarantineRow":
    found = [
        one
        for one in held
        if (one.server, one.tool) == (server, tool) and one.place.startswith(place or "")
    ]
    if not found:
        what = f"“{server} {tool}” is not in quarantine"
        raise UsageError(what, where="quarantine lift", fix=_SEE)
    if len(found) > 1:
        what = f"two servers are called “{server}”"
        raise UsageError(what, where="quarantine lift", fix="Say which with --place.")
    return found[0]


async def _held(store: str | None) -> "list[QuarantineRow]":
    async with opened(store) as kept:
        return await kept.quarantines()


def _print(one: "QuarantineRow") -> None:
    from avow.gateway.quarantine import evidence_of

    since = datetime.fromtimestamp(one.since).astimezone()
    told = Text(plain(f"{one.server} {one.tool}"), "bold")
    told.append(f"  since {since:%Y-%m-%d %H:%M}, place {one.place[:8]}", "not bold dim")
    out().print(told)
    for tried in evidence_of(one):
        out().print(Text(f"  tried: {plain(tried)}", "red"))
