"""Loading: from the text of access.toml to what it says, or to all that is wrong with it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from sayso.access.console import check_console, make_console
from sayso.access.format import ACCESS
from sayso.access.keyset import ALGORITHMS
from sayso.access.screens import check_screens, make_screens
from sayso.access.settings import Introspection, OAuth, Settings
from sayso.connect import ClientAuth, fault_of_url, is_private
from sayso.errors import AccessError, KeysError
from sayso.keys import FORM, Reference, find_reference
from sayso.settings import Document, read_document, read_text, seconds

_LONGEST: Final = 300.0
_OF_SIGNED: Final = ("jwks_url", "algorithms", "typ")
_ISSUERS: Final = (("oauth", "issuer"), ("console", "issuer"))
_URLS: Final = (*_ISSUERS, ("oauth", "jwks_url"), ("oauth", "introspection", "url"))
_DURATIONS: Final = (("oauth", "leeway"), ("oauth", "introspection", "remember"))
_SECRETS: Final = (("oauth", "introspection", "client_secret"), ("console", "client_secret"))


def read_access(path: str) -> Settings:
    """What the access.toml at `path` says.

    Raises `AccessError` with every mistake, each with its line, and `ConfigError` without a file.
    """
    return load_access(read_text(path, fix="Name an access.toml."), path)


def load_access(text: str, where: str = "access.toml") -> Settings:
    """What `text` says; `where` is its file: for errors, and secrets are looked for beside it.

    >>> load_access("api_keys = true")
    Settings(oauth=None, has_api_keys=True, console=None, screens=None)
    """
    document = read_document(text, where, ACCESS, AccessError)
    value = document.sound(document.value)
    for path in _URLS:
        _check_url(document, path, _at(value, path))
    for path in _DURATIONS:
        _check_duration(document, path, _at(value, path))
    asking, entering = (_secret(document, value, path) for path in _SECRETS)
    _check_meaning(document, value)
    check_console(document, value)
    check_screens(document, value)
    document.finish()
    console = make_console(value.get("console"), entering)
    return Settings(
        _oauth(value.get("oauth"), asking),
        value.get("api_keys", False),
        console,
        make_screens(value.get("screens"), console and console.people),
    )


def _check_meaning(document: Document, value: Mapping[str, Any]) -> None:
    if document.is_sound() and not value.get("api_keys") and "oauth" not in value:
        fix = "Write [oauth] with an issuer, or api_keys = true."
        document.report((), "nobody could call", fix)
    oauth: Mapping[str, Any] = value.get("oauth", {})
    if "introspection" in oauth:
        for key in _OF_SIGNED:
            if key in oauth:
                what = f"“{key}” is about signatures, and the issuer is asked about tokens instead"
                document.report(("oauth", key), what, "Keep the one that is meant.")


def _check_url(document: Document, path: tuple[str, ...], url: Any) -> None:
    if url is None:
        return
    if fault := fault_of_url(url):
        document.report(path, fault[0])
    elif not is_private(url):
        fix = "Only an address of this machine may be without it."
        document.report(path, "this URL is not https", fix)
    elif path in _ISSUERS and "?" in url:
        document.report(path, "an issuer has no query (RFC 8414, section 2)")


def _check_duration(document: Document, path: tuple[str, ...], text: Any) -> None:
    if text is not None and seconds(text) > _LONGEST:
        document.report(path, f"this must be at most {_LONGEST / 60:g}m, not {text}")


def _secret(
    document: Document, value: Mapping[str, Any], path: tuple[str, ...]
) -> Reference | None:
    """Where the secret is, once it has been seen there. The text itself is told to nobody."""
    text = _at(value, path)
    if text is None:
        return None
    found = find_reference(text, Path(document.where).absolute().parent)
    if found is None:
        fix = "Put the secret into the environment or a file of its own."
        document.report(path, f"this must say where the secret is: {FORM}", fix)
        return None
    try:
        found.read()
    except KeysError as error:
        document.report(path, f"{error.where}: {error.what}", error.fix)
    return found


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
    found: Any = value
    for step in path:
        found = cast("dict[str, Any]", found).get(step) if isinstance(found, dict) else None
    return found
