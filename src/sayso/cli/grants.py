"""`sayso grants`: the standing answers, and taking them back."""

import getpass
from typing import TYPE_CHECKING, Final

import anyio
from cyclopts import App
from rich.table import Table
from rich.text import Text

from sayso.cli.asking import ask_first
from sayso.cli.stored import keys_of, opened
from sayso.cli.terminal import out, print_json
from sayso.errors import UsageError
from sayso.schema import plain, quoted

if TYPE_CHECKING:
    from sayso.approvals import Grant

_SCHEMA: Final = 1
_ALL: Final = 1_000_000
"""Grants among which one is looked up by its number: more than a store holds."""

app = App(name="grants", help="List the standing answers, and take them back.")


@app.command(name="list")
def list_grants(*, store: str | None = None, limit: int = 100, json: bool = False) -> int:
    """List the standing answers, those that hold first.

    Parameters
    ----------
    store
        sqlite:PATH or postgresql://USER@HOST/DATABASE. Default: SAYSO_STORE, or the file in your
        data directory.
    limit
        How many at most.
    json
        Print one JSON document.
    """
    from sayso.approvals import Approvals, Grant

    keys = keys_of(store)

    async def run() -> list[Grant]:
        async with opened(store) as kept:
            return await Approvals.of(kept, keys=keys).list_grants(limit)

    found = anyio.run(run)
    if json:
        print_json({"schema": _SCHEMA, "grants": [grant.to_dict() for grant in found]})
        return 0
    table = Table("grant", "who", "what", "for", "given by", "used", "state", box=None)
    for grant in found:
        what = f"{grant.server} {grant.tool}" + (
            "" if grant.arguments is None else " (these arguments)"
        )
        state = "holds" if grant.holds else "its conversation is over"
        state = state if grant.revoked_at is None else f"revoked by {grant.revoked_by}"
        who = f"{grant.subject} through {quoted(grant.client)}"
        cells = (
            str(grant.number),
            who,
            what,
            str(grant.span),
            grant.given_by,
            str(grant.uses),
            state,
        )
        table.add_row(*(Text(plain(cell)) for cell in cells))
    out().print(table if found else "No standing answers.")
    return 0


@app.command
def revoke(number: int, *, yes: bool = False, store: str | None = None, json: bool = False) -> int:
    """Revoke a standing answer: from now on such calls ask again.

    Shows for whom and for which tool it was given, and asks first. Exit code 2 if there is no such
    answer, or if it was revoked before.

    Parameters
    ----------
    number
        Its number, as `sayso grants list` shows it.
    yes
        Do not ask.
    store
        As for list.
    json
        Print one JSON document.
    """
    from sayso.approvals import Approvals

    keys = keys_of(store)

    async def find() -> "Grant | None":
        async with opened(store) as kept:
            grants = await Approvals.of(kept, keys=keys).list_grants(_ALL)
        wanted = (grant for grant in grants if grant.number == number and grant.revoked_at is None)
        return next(wanted, None)

    async def run() -> bool:
        async with opened(store) as kept:
            return await Approvals.of(kept, keys=keys).revoke(number, by=getpass.getuser())

    grant = None if yes else anyio.run(find)
    if grant is not None:
        ask_first(f"Revoke 1 grant ({_named(grant)})? Such calls ask again.")
    if not (grant or yes) or not anyio.run(run):
        raise UsageError(f"there is no grant {number} that holds", fix="See sayso grants list.")
    if json:
        print_json({"schema": _SCHEMA, "revoked": number})
    else:
        out().print(f"grant {number} is taken back")
    return 0


def _named(grant: "Grant") -> str:
    arguments = "any arguments" if grant.arguments is None else "these arguments"
    who = f"{grant.subject} through {quoted(grant.client)}"
    return f"number {grant.number}: {who}, {grant.server} {grant.tool}, {arguments}"
