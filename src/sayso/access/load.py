"""The format of access.toml, and functions that load such a file."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from sayso.access.console import CLIENT_AUTH, check_console, make_console
from sayso.access.console import SHAPE as CONSOLE
from sayso.access.keyset import ALGORITHMS
from sayso.access.screens import SHAPE as SCREENS
from sayso.access.screens import check_screens, make_screens
from sayso.access.settings import Introspection, OAuth, Settings
from sayso.access.token import TYPES
from sayso.connect import ClientAuth, fault_of_url, is_private
from sayso.errors import AccessError, KeysError
from sayso.keys import FORM, Reference, find_reference
from sayso.settings import (
    DURATION,
    Boolean,
    Choice,
    Document,
    Items,
    Key,
    Table,
    Text,
    read_document,
    read_text,
    seconds,
)

_LONGEST: Final = 300.0
_OF_SIGNED: Final = ("jwks_url", "algorithms", "typ")
_ISSUERS: Final = (("oauth", "issuer"), ("console", "issuer"))
_URLS: Final = (*_ISSUERS, ("oauth", "jwks_url"), ("oauth", "introspection", "url"))
_DURATIONS: Final = (("oauth", "leeway"), ("oauth", "introspection", "remember"))

_DURATION: Final = Text("a duration such as 30s or 2m", DURATION)
_SCOPE: Final = Text("a scope", re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+"))  # RFC 6749, section 3.3

_INTROSPECTION: Final = Table(
    {
        "client_id": Key(Text(), "sayso's client ID at the issuer", is_required=True),
        "client_secret": Key(Text(), f"a reference to the client secret: {FORM}", is_required=True),
        "client_auth": CLIENT_AUTH,
        "url": Key(Text(), "the introspection URL; from the issuer's metadata by default"),
        "remember": Key(_DURATION, "how long an answer is cached, at most 5m", default="30s"),
    },
    "sayso asks the issuer about each token; tokens may have any format",
)
_OAUTH: Final = Table(
    {
        "issuer": Key(Text(), "the issuer of accepted tokens, as in “iss”", is_required=True),
        "audience": Key(Text(), "the required “aud”; the URL of the request by default"),
        "scopes": Key(Items(_SCOPE), "the scopes that every token must have"),
        "roles": Key(Text(), "the claim that holds roles, dotted if nested", default="roles"),
        "tenant": Key(Text(), "the claim that names the tenant; tokens without it are refused"),
        "leeway": Key(_DURATION, "the allowed clock difference, at most 5m", default="30s"),
        "jwks_url": Key(Text(), "the URL of the issuer's keys; from its metadata by default"),
        "algorithms": Key(
            Items(Choice(tuple(ALGORITHMS))), "the accepted signature algorithms; all by default"
        ),
        "typ": Key(Choice(TYPES), "the required token type; by default either type, or none"),
        "introspection": Key(_INTROSPECTION, "asking the issuer instead of verifying signatures"),
    },
    "people authenticate with tokens of an authorization server",
)
ACCESS: Final = Table(
    {
        "api_keys": Key(
            Boolean(), "machines authenticate with API keys of sayso keys create", default=False
        ),
        "oauth": Key(_OAUTH, "people authenticate with tokens of an authorization server"),
        "console": Key(CONSOLE, "people log in to the console with OpenID Connect"),
        "screens": Key(SCREENS, "other web pages show pending questions"),
    },
    "Access to the gateway and logins to its console.",
)


def read_access(path: str) -> Settings:
    """Read the access.toml at `path`.

    Raises `AccessError` with every mistake and its line, and `ConfigError` for a missing file.
    """
    return load_access(read_text(path, fix="Name an access.toml."), path)


def load_access(text: str, where: str = "access.toml") -> Settings:
    """Return the settings in `text`. References to secrets are relative to the folder of `where`.

    >>> load_access("api_keys = true")
    Settings(oauth=None, has_api_keys=True, console=None, screens=None)
    """
    document = read_document(text, where, ACCESS, AccessError)
    value = document.sound(document.value)
    for path in _URLS:
        _check_url(document, path, _at(value, path))
    for path in _DURATIONS:
        _check_duration(document, path, _at(value, path))
    introspection_secret = _secret(document, value, ("oauth", "introspection", "client_secret"))
    console_secret = _secret(document, value, ("console", "client_secret"))
    _check_meaning(document, value)
    check_console(document, value)
    check_screens(document, value)
    document.finish()
    console = make_console(value.get("console"), console_secret)
    return Settings(
        _oauth(value.get("oauth"), introspection_secret),
        value.get("api_keys", False),
        console,
        make_screens(value.get("screens"), console and console.people),
    )


def _check_meaning(document: Document, value: Mapping[str, Any]) -> None:
    if document.is_sound() and not value.get("api_keys") and "oauth" not in value:
        fix = "Write [oauth] with an issuer, or api_keys = true."
        document.report((), "no authentication is set, so no one could call", fix)
    oauth: Mapping[str, Any] = value.get("oauth", {})
    if "introspection" in oauth:
        for key in _OF_SIGNED:
            if key in oauth:
                what = f"“{key}” has no effect, because “introspection” replaces signatures"
                document.report(("oauth", key), what, "Remove one of the two.")


def _check_url(document: Document, path: tuple[str, ...], url: Any) -> None:
    if url is None:
        return
    if fault := fault_of_url(url):
        document.report(path, fault[0])
    elif not is_private(url):
        fix = "Only URLs of this machine may use http."
        document.report(path, "this URL must use https", fix)
    elif path in _ISSUERS and "?" in url:
        document.report(path, "an issuer must not have a query (RFC 8414, section 2)")


def _check_duration(document: Document, path: tuple[str, ...], text: Any) -> None:
    if text is not None and seconds(text) > _LONGEST:
        document.report(path, f"this must be at most {_LONGEST / 60:g}m, not {text}")


def _secret(
    document: Document, value: Mapping[str, Any], path: tuple[str, ...]
) -> Reference | None:
    text = _at(value, path)
    if text is None:
        return None
    reference = find_reference(text, Path(document.where).absolute().parent)
    if reference is None:
        fix = "Put the secret into an environment variable or a separate file."
        document.report(path, f"this must be a reference to the secret: {FORM}", fix)
        return None
    try:
        reference.read()
    except KeysError as error:
        document.report(path, f"{error.where}: {error.what}", error.fix)
    return reference


def _oauth(table: Mapping[str, Any] | None, secret: Reference | None) -> OAuth | None:
    if table is None:
        return None
    return OAuth(
        issuer=table["issuer"],
        audience=table.get("audience"),
        scopes=tuple(table.get("scopes", ())),
        roles=table.get("roles", "roles"),
        tenant=table.get("tenant"),
        leeway=seconds(table.get("leeway", "30s")),
        jwks_url=table.get("jwks_url"),
        algorithms=tuple(table.get("algorithms", ALGORITHMS)),
        typ=table.get("typ"),
        introspection=_introspection(table.get("introspection"), secret),
    )


def _introspection(
    table: Mapping[str, Any] | None, secret: Reference | None
) -> Introspection | None:
    if table is None or secret is None:
        return None
    is_in_body = table.get("client_auth") == "client_secret_post"
    auth = ClientAuth(table["client_id"], secret, is_in_body=is_in_body)
    return Introspection(auth, table.get("url"), seconds(table.get("remember", "30s")))


def _at(value: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    member: Any = value
    for step in path:
        if not isinstance(member, dict):
            return None
        member = cast("dict[str, Any]", member).get(step)
    return member
