"""`sayso grants`: the standing answers, and taking them back."""

import getpass
from typing import TYPE_CHECKING, Final

from cyclopts import App
from rich.table import Table
from rich.text import Text

from sayso.cli.options import Json, Store, Yes
from sayso.cli.stored import keys_of, run_on
from sayso.cli.terminal import ask_first, out, print_document
from sayso.errors import UsageError
from sayso.schema import plain, quoted

if TYPE_CHECKING:
    from sayso.approvals import Grant

_ALL: Final = 1_000_000
"""Grants among which one is looked up by its number: more than a store holds."""

app = App(name="grants", help="List the standing answers, and take them back.")


@app.command(name="list")
def list_grants(*, store: Store = None, limit: int = 100, json: Json = False) -> int:
    """List the standing answers, those that hold first.

    Parameters
    ----------
    limit
        How many at most.
    """
    found = _read(store, limit)
    if json:
        print_document({"grants": [grant.to_dict() for grant in found]})
        return 0
    table = Table("grant", "who", "what", "for", "given by", "used", "state", box=None)
    for grant in found:
        what = f"{grant.server} {grant.tool}"
        if grant.arguments is not None:
            what += " (these arguments)"
        cells = (
            str(grant.number),
            _who(grant),
            what,
            str(grant.span),
            grant.given_by,
            str(grant.uses),
            _state(grant),
        )
        table.add_row(*(Text(plain(cell)) for cell in cells))
    out().print(table if found else "No standing answers.")
    return 0


@app.command
def revoke(number: int, *, yes: Yes = False, store: Store = None, json: Json = False) -> int:
    """Revoke a standing answer: from now on such calls ask again.

    Shows for whom and for which tool it was given, and asks first. Exit code 2 if there is no such
    answer, or if it was revoked before.

    Parameters
    ----------
    number
        Its number, as `sayso grants list` shows it.
    """
    from sayso.approvals import Approvals

    keys = keys_of(store)
    missing = UsageError(f"there is no grant {number} that holds", fix="See sayso grants list.")
    if not yes:
        found = (grant for grant in _read(store, _ALL) if grant.number == number)
        grant = next((grant for grant in found if grant.revoked_at is None), None)
        if grant is None:
            raise missing
        ask_first(f"Revoke 1 grant ({_named(grant)})? Such calls ask again.")
    by = getpass.getuser()
    if not run_on(store, lambda kept: Approvals.of(kept, keys=keys).revoke(number, by=by)):
        raise missing
    if json:
        print_document({"revoked": number})
    else:
        out().print(f"grant {number} is taken back")
    return 0


def _read(store: str | None, limit: int) -> "list[Grant]":
    from sayso.approvals import Approvals

    keys = keys_of(store)
    return run_on(store, lambda kept: Approvals.of(kept, keys=keys).list_grants(limit))


def _who(grant: "Grant") -> str:
    return f"{grant.subject} through {quoted(grant.client)}"


def _state(grant: "Grant") -> str:
    if grant.revoked_at is not None:
        return f"revoked by {grant.revoked_by}"
    return "holds" if grant.holds else "its conversation is over"


def _named(grant: "Grant") -> str:
    arguments = "any arguments" if grant.arguments is None else "these arguments"
    return f"number {grant.number}: {_who(grant)}, {grant.server} {grant.tool}, {arguments}"
