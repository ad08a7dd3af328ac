"""The `[console]` of an access.toml: where people log in to the console, and their roles."""

from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.access.keyset import ALGORITHMS
from sayso.access.settings import Console
from sayso.keys import FORM, Reference
from sayso.settings import DURATION, Choice, Document, Items, Key, Table, Text, seconds

EVERYBODY: Final = "*"
"""In place of a word of the claim: all who may log in."""

_ROLES: Final = ("viewer", "approver", "admin")
_LONGEST: Final = 12 * 3600.0

CLIENT_AUTH: Final = Key(
    Choice(("client_secret_basic", "client_secret_post")),
    "whether the secret goes in a header or in the form",
    default="client_secret_basic",
)
SHAPE: Final = Table(
    {
        "issuer": Key(Text(), "who says who people are (OpenID Connect)", is_required=True),
        "client_id": Key(Text(), "as what sayso is known there", is_required=True),
        "client_secret": Key(Text(), f"where its secret is: {FORM}; none for a public client"),
        "client_auth": CLIENT_AUTH,
        "scopes": Key(
            Items(Text("a scope")), "what is asked for beside openid, so that the roles come"
        ),
        "roles": Key(Text(), "the claim that holds roles, dotted where nested", default="roles"),
        "viewer": Key(Items(Text()), "the words of that claim whose holders may look"),
        "approver": Key(Items(Text()), "those whose holders may answer too"),
        "admin": Key(Items(Text()), "those whose holders may do everything"),
        "people": Key(Items(Text()), "the only people who may log in, by their “sub”"),
        "session": Key(
            Text("a duration such as 1h", DURATION),
            "how long a login lasts, at most 12h",
            default="12h",
        ),
        "algorithms": Key(
            Items(Choice(tuple(ALGORITHMS))), "what may sign; by default all of these"
        ),
    },
    "people log in to the console with OpenID Connect",
)


def check_console(document: Document, value: Mapping[str, Any]) -> None:
    """Report what is wrong with the meaning of the table `console` in `value`."""
    table = cast("Mapping[str, Any]", value.get("console", {}))
    if not table:
        return
    if document.is_sound("console") and not any(role in table for role in _ROLES):
        fix = "Say who may do what: viewer, approver, admin, each with words of the claim."
        document.report(("console",), "nobody could log in", fix)
    if "people" not in table:
        for role in _ROLES:
            if EVERYBODY in table.get(role, ()):
                what = f"“{EVERYBODY}” lets in whoever has an account with the issuer"
                document.report(("console", role), what, "Name the people: people = […].")
    if seconds(table.get("session", "12h")) > _LONGEST:
        what = f"this must be at most 12h, not {table['session']}"
        document.report(("console", "session"), what)
    issuer = value.get("oauth", {}).get("issuer", table.get("issuer"))
    if "issuer" in table and table["issuer"] != issuer:
        # Of two issuers the same name may be two people, and two names one.
        fix = "Use one issuer for both: a person must have one name."
        what = "this is another issuer than [oauth] has, so nobody knows who asks and who answers"
        document.report(("console", "issuer"), what, fix)


def make_console(table: Mapping[str, Any] | None, secret: Reference | None) -> Console | None:
    """Return the settings of a checked table."""
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
