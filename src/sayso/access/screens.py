"""The `[screens]` of an access.toml: pages that may show what waits, and who may answer there."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit

from sayso.access.claims import KEY_SUBJECT
from sayso.access.console import EVERYBODY
from sayso.access.settings import Screens
from sayso.connect import is_private
from sayso.settings import Document, Items, Key, Table, Text

_ROLES: Final = ("viewer", "approver")
_USUAL: Final = {"http": 80, "https": 443}
_ORIGIN: Final = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?")

SHAPE: Final = Table(
    {
        "origins": Key(
            Items(Text()), "the pages that may call, each by its whole origin; none by default"
        ),
        "viewer": Key(Items(Text()), "the roles of callers that may look at what waits"),
        "approver": Key(Items(Text()), "the roles of callers that may answer too"),
        "clients": Key(Items(Text()), "the only clients whose tokens count, by their “client_id”"),
    },
    "screens of others, such as a chat, show what waits and take answers",
)


def check_screens(document: Document, value: Mapping[str, Any]) -> None:
    """Report what is wrong with the meaning of the table `screens` in `value`."""
    if "screens" not in value:
        return
    table = cast("Mapping[str, Any]", value["screens"])
    for origin in table.get("origins", ()):
        if (what := _fault(origin)) is not None:
            document.report(("screens", "origins"), f"“{origin}” {what}")
    for role in _ROLES:
        if EVERYBODY in table.get(role, ()):
            what = f"“{EVERYBODY}” would let in every agent"
            document.report(("screens", role), what, "Name the roles of people.")
    if document.is_sound("screens") and not any(role in table for role in _ROLES):
        fix = "Say whose callers may look or answer: viewer, approver, each with roles."
        document.report(("screens",), "nobody could see anything", fix)
    if "audience" in value.get("oauth", {}) and "clients" not in table:
        # Then a token for an agent and one for a screen look the same.
        what = "tokens for one audience are good for agents and for screens alike"
        document.report(("screens",), what, "Name the clients that are screens: clients = […].")


def make_screens(table: Mapping[str, Any] | None, people: frozenset[str] | None) -> Screens | None:
    """Return the settings of a checked table; `people` are those who may log in, if limited."""
    if table is None:
        return None
    clients = table.get("clients")
    return Screens(
        origins=frozenset(table.get("origins", ())),
        roles={role: frozenset(table[role]) for role in _ROLES if role in table},
        clients=None if clients is None else frozenset(clients),
        people=people,
    )


def may_use(screens: Screens, subject: str, client: str) -> bool:
    """Return whether this caller may be at a screen at all, whatever its roles.

    >>> may_use(Screens(clients=frozenset({"chat"})), "amy", "some-agent")
    False
    """
    if subject.startswith(KEY_SUBJECT):
        return True
    if screens.clients is not None and client not in screens.clients:
        return False
    return screens.people is None or subject in screens.people


def _fault(origin: str) -> str | None:
    """Return why this is not an origin as browsers write one (RFC 6454, section 6.2)."""
    if not _ORIGIN.fullmatch(origin):
        return "is no origin: write scheme, host and port, as in https://chat.example.com"
    parts = urlsplit(origin)
    if parts.port == _USUAL[parts.scheme]:
        return "names the usual port, which browsers leave out"
    if not is_private(origin):
        return "is not https; only a page of this machine may be"
    return None
