"""The table `[console]` of access.toml: who issues logins, and the roles that people get."""

from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.access.keyset import ALGORITHMS
from sayso.access.settings import Console
from sayso.keys import FORM, Reference
from sayso.settings import DURATION, Choice, Document, Items, Key, Table, Text, seconds

EVERYBODY: Final = "*"
"""The value that stands for everyone who may log in."""

_ROLES: Final = ("viewer", "approver", "admin")
_LONGEST: Final = 12 * 3600.0

CLIENT_AUTH: Final = Key(
    Choice(("client_secret_basic", "client_secret_post")),
    "whether the secret goes in a header or in the form",
    default="client_secret_basic",
)
SHAPE: Final = Table(
    {
        "issuer": Key(
            Text(), "the OpenID Connect issuer that people log in with", is_required=True
        ),
        "client_id": Key(Text(), "sayso's client ID at the issuer", is_required=True),
        "client_secret": Key(
            Text(), f"a reference to the client secret: {FORM}; omit it for a public client"
        ),
        "client_auth": CLIENT_AUTH,
        "scopes": Key(
            Items(Text("a scope")),
            "scopes to request in addition to openid, so that the roles are included",
        ),
        "roles": Key(Text(), "the claim that holds roles, dotted if nested", default="roles"),
        "viewer": Key(Items(Text()), "the values of that claim that let a person view"),
        "approver": Key(Items(Text()), "the values that also let a person answer"),
        "admin": Key(Items(Text()), "the values that let a person do everything"),
        "people": Key(Items(Text()), "the only people who may log in, by their “sub”"),
        "session": Key(
            Text("a duration such as 1h", DURATION),
            "how long a login lasts, at most 12h",
            default="12h",
        ),
        "algorithms": Key(
            Items(Choice(tuple(ALGORITHMS))), "the accepted signature algorithms; all by default"
        ),
    },
    "people log in to the console with OpenID Connect",
)


def check_console(document: Document, value: Mapping[str, Any]) -> None:
    """Report mistakes in the table `console` of `value` that its `SHAPE` cannot detect."""
    table = cast("Mapping[str, Any]", value.get("console", {}))
    if not table:
        return
    if document.is_sound("console") and not any(role in table for role in _ROLES):
        fix = "Set viewer, approver or admin to values of the roles claim."
        document.report(("console",), "no role is set, so no one could log in", fix)
    if "people" not in table:
        for role in _ROLES:
            if EVERYBODY in table.get(role, ()):
                what = f"“{EVERYBODY}” allows everyone with an account at the issuer"
                document.report(("console", role), what, "Limit it to people = […].")
    if seconds(table.get("session", "12h")) > _LONGEST:
        what = f"this must be at most 12h, not {table['session']}"
        document.report(("console", "session"), what)
    issuer = value.get("oauth", {}).get("issuer", table.get("issuer"))
    if "issuer" in table and table["issuer"] != issuer:
        # One name at two issuers may belong to two people, who must not be taken for one.
        fix = "Use one issuer for both, so that each person has one name."
        what = "the issuer differs from [oauth].issuer, so callers and approvers cannot be matched"
        document.report(("console", "issuer"), what, fix)


def make_console(table: Mapping[str, Any] | None, secret: Reference | None) -> Console | None:
    """Return the settings in a validated table; `None` without a table."""
    if table is None:
        return None
    people = table.get("people")
    return Console(
        issuer=table["issuer"],
        client_id=table["client_id"],
        secret=secret,
        is_in_body=table.get("client_auth") == "client_secret_post",
        scopes=tuple(table.get("scopes", ())),
        claim=table.get("roles", "roles"),
        roles={role: frozenset(table[role]) for role in _ROLES if role in table},
        people=None if people is None else frozenset(people),
        seconds=seconds(table.get("session", "12h")),
        algorithms=tuple(table.get("algorithms", ALGORITHMS)),
    )
