"""`sayso grants`: list and revoke standing approvals."""

import getpass
from typing import TYPE_CHECKING, Final

from sayso.cli.commands import App
from sayso.cli.options import Json, Store, Yes
from sayso.cli.store_access import keys_of, run_on
from sayso.cli.terminal import ask_first, make_table, out, print_document
from sayso.errors import UsageError
from sayso.schema import plain, quoted
from sayso.styled import Text

if TYPE_CHECKING:
    from sayso.approvals import Grant

_ALL: Final = 1_000_000
"""Limit for a search by number, higher than the number of grants in any store."""

app = App(name="grants", help="List standing approvals, and revoke them.")


@app.command(name="list")
def list_grants(*, store: Store = None, limit: int = 100, json: Json = False) -> int:
    """List standing approvals, valid ones first.

    Parameters
    ----------
    limit
        Maximum number of grants.
    """
    grants = _read(store, limit)
    if json:
        print_document({"grants": [grant.to_dict() for grant in grants]})
        return 0
    table = make_table("grant", "who", "what", "for", "given by", "used", "state")
    for grant in grants:
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
    out().print(table if grants else "No standing approvals.")
    return 0


@app.command
def revoke(number: int, *, yes: Yes = False, store: Store = None, json: Json = False) -> int:
    """Revoke a standing approval: matching calls ask again.

    Shows the grant's subject and tool, and asks first. Exit code 2 if the grant does not exist or
    was already revoked.

    Parameters
    ----------
    number
        The number from `sayso grants list`.
    """
    from sayso.approvals import Approvals

    keys = keys_of(store)
    missing = UsageError(f"no valid grant {number}", fix="Run sayso grants list.")
    if not yes:
        matches = (grant for grant in _read(store, _ALL) if grant.number == number)
        grant = next((grant for grant in matches if grant.revoked_at is None), None)
        if grant is None:
            raise missing
        ask_first(f"Revoke 1 grant ({_named(grant)})? Matching calls ask again.")
    by = getpass.getuser()
    if not run_on(store, lambda kept: Approvals.of(kept, keys=keys).revoke(number, by=by)):
        raise missing
    if json:
        print_document({"revoked": number})
    else:
        out().print(f"grant {number} revoked")
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
    return "valid" if grant.holds else "its conversation has ended"


def _named(grant: "Grant") -> str:
    arguments = "any arguments" if grant.arguments is None else "these arguments"
    return f"number {grant.number}: {_who(grant)}, {grant.server} {grant.tool}, {arguments}"
