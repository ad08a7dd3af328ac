"""`sayso keys`: API keys for machines, made, listed and taken back."""

import getpass
import json
import time
from typing import Annotated, Any, Final

from cyclopts import App, Parameter
from rich.table import Table
from rich.text import Text

from sayso.cli.format_record import moment
from sayso.cli.options import Json, Store, Yes
from sayso.cli.stored import beside, run_on
from sayso.cli.terminal import ask_first, listed, out, plural, print_document, talk
from sayso.errors import UsageError
from sayso.schema import plain
from sayso.settings import DURATION, seconds
from sayso.store import ApiKeyRow, Database

_MAX_NAMED: Final = 5
"""Keys whose ids stand in the question before they are revoked."""
_MANY: Final = Parameter(negative="")

app = App(name="keys", help="Make API keys for machines, list them, and take them back.")


@app.command
def create(
    name: str,
    *,
    scope: Annotated[tuple[str, ...], _MANY] = (),
    role: Annotated[tuple[str, ...], _MANY] = (),
    expires: str = "90d",
    store: Store = None,
    as_json: Json = False,
) -> int:
    """Make an API key and print it, this once: sayso keeps nothing it could be made from.

    Parameters
    ----------
    name
        Who calls with it: policies and records know it as key:NAME. Several keys may have one
        name, so that a new one can take the place of an old one.
    scope
        A scope that it holds; may be given several times.
    role
        A role that it has; may be given several times.
    expires
        How long it holds: 30m, 12h, 90d, or never.
    """
    from sayso.access import make_api_key
    from sayso.keys import load_keys

    lifetime = _seconds(expires)

    async def make(kept: Database) -> tuple[str, ApiKeyRow]:
        text, row = make_api_key(
            load_keys(beside(store), is_made=True),
            name,
            scopes=scope,
            roles=role,
            now=time.time(),
            seconds=lifetime,
            by=getpass.getuser(),
        )
        await kept.api_keys.add(row)
        return text, row

    text, row = run_on(store, make, is_new=True)
    if as_json:
        print_document({"key": text, "id": row.id, "name": name, "expires": row.expires})
        return 0
    out().print(text)
    until = "it is taken back" if row.expires is None else _day(row.expires)
    talk().print(f"This is shown once. It holds until {until}; sayso keys revoke {row.id} ends it.")
    return 0


@app.command(name="list")
def list_keys(*, store: Store = None, as_json: Json = False) -> int:
    """List the API keys, those that hold first. The keys themselves are nowhere."""
    found = run_on(store, _all)
    if as_json:
        print_document({"keys": [_document(row) for row in found]})
        return 0
    table = Table("id", "name", "scopes", "roles", "made by", "last used", "state", box=None)
    for row in found:
        table.add_row(*(Text(plain(cell)) for cell in _cells(row)))
    out().print(table if found else "No API keys.")
    return 0


@app.command
def revoke(which: str, *, yes: Yes = False, store: Store = None, as_json: Json = False) -> int:
    """Revoke API keys. Every replica refuses them within two seconds.

    Shows which keys and how many, and asks first. Exit code 2 if there is no such key, or if it
    was revoked before.

    Parameters
    ----------
    which
        The id of one key, or the name of several.
    """
    found = run_on(store, _all)
    rows = [row for row in found if which in (row.id, row.name) and row.revoked_at is None]
    if rows and not yes:
        named = listed((f"{row.name} {row.id}" for row in rows), _MAX_NAMED)
        keys = f"{len(rows):,} API {plural(len(rows), 'key')}"
        ask_first(f"Revoke {keys} ({named})? This cannot be undone.")

    async def revoke_rows(kept: Database) -> int:
        # By their ids: a key that was made since the question was shown is kept.
        by = getpass.getuser()
        counts = [await kept.api_keys.revoke(row.id, by=by, now=time.time()) for row in rows]
        return sum(counts)

    count = run_on(store, revoke_rows)
    if not count:
        what = f"there is no API key {which!r} that holds"
        raise UsageError(what, fix="See sayso keys list.")
    if as_json:
        print_document({"revoked": count})
    else:
        out().print(f"{count} {'key is' if count == 1 else 'keys are'} taken back")
    return 0


async def _all(kept: Database) -> list[ApiKeyRow]:
    return await kept.api_keys.all()


def _seconds(expires: str) -> float | None:
    if expires == "never":
        return None
    if not DURATION.fullmatch(expires):
        fix = "Write 30m, 12h, 90d, or never."
        raise UsageError(f"{expires!r} is not how long a key holds", where="--expires", fix=fix)
    return seconds(expires)


def _day(at: float) -> str:
    return moment(at)[:-3]


def _state(row: ApiKeyRow) -> str:
    if row.revoked_at is not None:
        return f"revoked by {row.revoked_by}"
    if row.expires is not None and row.expires <= time.time():
        return "expired"
    if row.expires is None:
        return "holds"
    return f"holds until {_day(row.expires)}"


def _cells(row: ApiKeyRow) -> tuple[str, ...]:
    used = "never" if row.used is None else f"{_day(row.used)[:-2]}00"
    scopes, roles = (" ".join(json.loads(text)) for text in (row.scopes, row.roles))
    return row.id, row.name, scopes, roles, row.created_by, used, _state(row)


def _document(row: ApiKeyRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "scopes": json.loads(row.scopes),
        "roles": json.loads(row.roles),
        "created": row.created,
        "created_by": row.created_by,
        "expires": row.expires,
        "used": row.used,
        "revoked": row.revoked_at,
        "revoked_by": row.revoked_by,
    }
