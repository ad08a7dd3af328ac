"""The table `[screens]` of access.toml: who may show and answer questions on other web pages."""

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
        "origins": Key(Items(Text()), "the origins of pages that may call; none by default"),
        "viewer": Key(Items(Text()), "the callers' roles that may see pending questions"),
        "approver": Key(Items(Text()), "the callers' roles that may answer too"),
        "clients": Key(Items(Text()), "the only accepted clients, by their “client_id”"),
    },
    "other pages, such as a chat, show pending questions and take answers",
)


def check_screens(document: Document, value: Mapping[str, Any]) -> None:
    """Report mistakes in the table `screens` of `value` that its `SHAPE` cannot detect."""
    if "screens" not in value:
        return
    table = cast("Mapping[str, Any]", value["screens"])
    for origin in table.get("origins", ()):
        if (what := _fault(origin)) is not None:
            document.report(("screens", "origins"), f"“{origin}” {what}")
    for role in _ROLES:
        if EVERYBODY in table.get(role, ()):
            what = f"“{EVERYBODY}” would allow every agent"
            document.report(("screens", role), what, "Name the roles of people.")
    if document.is_sound("screens") and not any(role in table for role in _ROLES):
        fix = "Set viewer or approver to roles of callers."
        document.report(("screens",), "no role is set, so no one could see anything", fix)
    if "audience" in value.get("oauth", {}) and "clients" not in table:
        # With one audience for all, only the client distinguishes agents from screens.
        what = "with “audience” in [oauth], tokens of agents would be valid for screens too"
        document.report(("screens",), what, "Name the clients of screens: clients = […].")


def make_screens(table: Mapping[str, Any] | None, people: frozenset[str] | None) -> Screens | None:
    """Return the settings in a validated table; `people`, if set, are the only accepted people."""
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
    """Return whether this caller may use the console's API, without a check of the roles.

    >>> may_use(Screens(clients=frozenset({"chat"})), "amy", "some-agent")
    False
    """
    if subject.startswith(KEY_SUBJECT):
        return True
    if screens.clients is not None and client not in screens.clients:
        return False
    return screens.people is None or subject in screens.people


def _fault(origin: str) -> str | None:
    """Return what is wrong with an origin (RFC 6454, section 6.2); `None` if it is valid."""
    if not _ORIGIN.fullmatch(origin):
        return "is not an origin: write scheme, host and port, as in https://chat.example.com"
    parts = urlsplit(origin)
    if parts.port == _USUAL[parts.scheme]:
        return "contains the default port, which browsers omit"
    if not is_private(origin):
        return "must use https, except on this machine"
    return None
