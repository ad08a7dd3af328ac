"""`sayso keys`: create, list and revoke API keys for machines."""

import getpass
import json
import time
from typing import Any, Final

from sayso.cli.commands import App
from sayso.cli.format_record import local_time
from sayso.cli.options import Json, Store, Yes
from sayso.cli.store_access import beside, run_on
from sayso.cli.terminal import ask_first, listed, make_table, out, plural, print_document, talk
from sayso.errors import UsageError
from sayso.schema import plain
from sayso.settings import DURATION, seconds
from sayso.store import ApiKeyRow, Database
from sayso.styled import Text

_MAX_NAMED: Final = 5
"""Keys that a confirmation names."""

app = App(name="keys", help="Create, list and revoke API keys for machines.")


@app.command
def create(
    name: str,
    *,
    scope: tuple[str, ...] = (),
    role: tuple[str, ...] = (),
    expires: str = "90d",
    store: Store = None,
    as_json: Json = False,
) -> int:
    """Create an API key and print it once; sayso does not store it.

    Parameters
    ----------
    name
        The caller's name: policies and records use key:NAME. Several keys may share a name, so
        that you can rotate them.
    scope
        Scope of the key; repeatable.
    role
        Role of the key; repeatable.
    expires
        Lifetime: 30m, 12h, 90d, or never.
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
    until = "you revoke it" if row.expires is None else _day(row.expires)
    talk().print(f"Shown only once. Valid until {until}. To revoke: sayso keys revoke {row.id}.")
    return 0


@app.command(name="list")
def list_keys(*, store: Store = None, as_json: Json = False) -> int:
    """List the API keys, valid ones first, without the secrets."""
    rows = run_on(store, _all)
    if as_json:
        print_document({"keys": [_document(row) for row in rows]})
        return 0
    table = make_table("id", "name", "scopes", "roles", "created by", "last used", "state")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in _cells(row)))
    out().print(table if rows else "No API keys.")
    return 0


@app.command
def revoke(which: str, *, yes: Yes = False, store: Store = None, as_json: Json = False) -> int:
    """Revoke API keys. All replicas refuse them within two seconds.

    Shows the keys, and asks first. Exit code 2 if there is no such key, or if it was already
    revoked.

    Parameters
    ----------
    which
        The id of one key, or a name: all keys of that name are revoked.
    """
    rows = [
        row for row in run_on(store, _all) if which in (row.id, row.name) and row.revoked_at is None
    ]
    if rows and not yes:
        named = listed((f"{row.name} {row.id}" for row in rows), _MAX_NAMED)
        keys = f"{len(rows):,} API {plural(len(rows), 'key')}"
        ask_first(f"Revoke {keys} ({named})? This cannot be undone.")

    async def revoke_rows(kept: Database) -> int:
        # Revoke by id, so that a key created after the question stays.
        by = getpass.getuser()
        counts = [await kept.api_keys.revoke(row.id, by=by, now=time.time()) for row in rows]
        return sum(counts)

    count = run_on(store, revoke_rows)
    if not count:
        raise UsageError(f"no valid API key {which!r}", fix="Run sayso keys list.")
    if as_json:
        print_document({"revoked": count})
    else:
        out().print(f"{count} {plural(count, 'key')} revoked")
    return 0


async def _all(kept: Database) -> list[ApiKeyRow]:
    return await kept.api_keys.all()


def _seconds(expires: str) -> float | None:
    if expires == "never":
        return None
    if not DURATION.fullmatch(expires):
        what = f"must be a duration such as 30m, 12h or 90d, or never, got {expires!r}"
        raise UsageError(what, where="--expires")
    return seconds(expires)


def _day(at: float) -> str:
    return local_time(at)[:-3]


def _state(row: ApiKeyRow) -> str:
    if row.revoked_at is not None:
        return f"revoked by {row.revoked_by}"
    if row.expires is not None and row.expires <= time.time():
        return "expired"
    if row.expires is None:
        return "valid"
    return f"valid until {_day(row.expires)}"


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
