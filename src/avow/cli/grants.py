"""`avow grants`: the standing answers, and taking them back."""

import getpass
import time
from typing import Final

import anyio
from cyclopts import App
from rich.table import Table
from rich.text import Text

from avow.cli.stored import opened
from avow.cli.terminal import out, print_json
from avow.errors import UsageError
from avow.schema.plain import plain

_SCHEMA: Final = 1

app = App(name="grants", help="List the standing answers, and take them back.")


@app.command(name="list")
def list_grants(*, store: str | None = None, limit: int = 100, json: bool = False) -> int:
    """List the standing answers, those that hold first.

    Parameters
    ----------
    store
        sqlite:PATH or postgresql://USER@HOST/DATABASE. Default: AVOW_STORE, or the file in your
        data directory.
    limit
        How many at most.
    json
        Print one JSON document.
    """
    from avow.approvals import Approvals, Grant

    async def run() -> list[Grant]:
        async with opened(store) as kept:
            return await Approvals(kept).grants(limit)

    found = anyio.run(run)
    if json:
        print_json({"schema": _SCHEMA, "grants": [one.to_dict() for one in found]})
        return 0
    table = Table("grant", "who", "what", "for", "given by", "used", "state", box=None)
    for one in found:
        what = f"{one.server} {one.tool}" + ("" if one.arguments is None else " (these arguments)")
        state = "holds" if one.holds else "its conversation is over"
        state = state if one.revoked_at is None else f"revoked by {one.revoked_by}"
        who = f"{one.subject} through {one.client}"
        cells = (str(one.number), who, what, str(one.span), one.given_by, str(one.uses), state)
        table.add_row(*(Text(plain(cell)) for cell in cells))
    out().print(table if found else "No standing answers.")
    return 0


@app.command
def revoke(number: int, *, store: str | None = None, json: bool = False) -> int:
    """Take a standing answer back: from now on such calls ask again.

    Exit code 2 where there is no such answer, or it was taken back before.

    Parameters
    ----------
    number
        Its number, as `avow grants list` shows it.
    store
        As for list.
    json
        Print one JSON document.
    """
    from avow.approvals import Approvals

    async def run() -> bool:
        async with opened(store) as kept:
            return await Approvals(kept, clock=time.time).revoke(number, by=getpass.getuser())

    if not anyio.run(run):
        raise UsageError(f"there is no grant {number} that holds", fix="See avow grants list.")
    if json:
        print_json({"schema": _SCHEMA, "revoked": number})
    else:
        out().print(f"grant {number} is taken back")
    return 0
