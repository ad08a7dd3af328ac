"""The key `sayso` of an entry in a client's configuration. Errors have file and line."""

from pathlib import Path
from typing import Any, Final, cast

from sayso.connect.address import fault_of_url, is_private
from sayso.connect.entry import Entry, nearest
from sayso.connect.kinds import AuthKind, Contract, UpstreamAuth
from sayso.keys import FORM, Reference, find_reference
from sayso.settings import type_name

_NEEDED: Final = ("type", "token_url", "client_id", "client_secret")
_OTHERS: Final = ("client_auth", "scope", "resource", "audience")
_CLIENT_AUTH: Final = ("client_secret_basic", "client_secret_post")
_EXAMPLE: Final = (
    'Write it as {"auth": {"type": "client_credentials", "token_url": "https://…", '
    '"client_id": "…", "client_secret": "env:NAME"}}.'
)


def read_auth(entry: Entry) -> UpstreamAuth | None:
    """Return the entry's `sayso.auth`, or `None` without one. Raises `ConfigError`."""
    settings = _sayso_table(entry)
    if settings.get("auth") is None:
        return None
    table = _table(entry, settings["auth"], "sayso", "auth", known=(*_NEEDED, *_OTHERS))
    for key in _NEEDED:
        if table.get(key) is None:
            raise entry.fault(f"the key “{key}” is missing", "sayso", "auth", fix=_EXAMPLE)
    texts = {key: _text(entry, key, value) for key, value in table.items() if value is not None}
    texts.setdefault("client_auth", _CLIENT_AUTH[0])
    return UpstreamAuth(
        type=AuthKind(_word(entry, texts, "type", tuple(AuthKind))),
        token_url=_address(entry, texts["token_url"]),
        client_id=texts["client_id"],
        client_secret=_secret(entry, texts["client_secret"]),
        is_secret_in_body=_word(entry, texts, "client_auth", _CLIENT_AUTH) == "client_secret_post",
        scope=texts.get("scope"),
        resource=texts.get("resource"),
        audience=texts.get("audience"),
    )


def read_shared(entry: Entry) -> bool:
    """Return whether all principals share one connection. Raises `ConfigError`."""
    return _flag(entry, "shared")


def read_contract(entry: Entry) -> Contract | None:
    """Return the contract of the entry's server, if it has one. Raises `ConfigError`."""
    has_contract = _flag(entry, "contract")
    own = _sayso_table(entry).get("own")
    if not has_contract:
        if own is not None:
            fix = 'Add "contract": true, or remove “own”.'
            raise entry.fault("requires “contract”", "sayso", "own", fix=fix)
        return None
    return Contract(_own(entry, own))


def _flag(entry: Entry, key: str) -> bool:
    value = _sayso_table(entry).get(key)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise entry.fault(f"must be true or false, not {type_name(value)}", "sayso", key)


def _own(entry: Entry, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        what = f"must be an array of paths, not {type_name(value)}"
        raise entry.fault(what, "sayso", "own", fix='Write it as ["~/.local/share/NAME"].')
    paths = enumerate(cast("list[object]", value))
    return tuple(entry.path(path, "sayso", "own", index) for index, path in paths)


def _sayso_table(entry: Entry) -> dict[str, Any]:
    found = entry.fields.get("sayso")
    if found is None:
        return {}
    return _table(entry, found, "sayso", known=("auth", "contract", "own", "shared"))


def _table(entry: Entry, value: object, *steps: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise entry.fault(f"must be an object, not {type_name(value)}", *steps, fix=_EXAMPLE)
    table = cast("dict[str, Any]", value)
    for key in table:
        if key not in known:
            near = nearest(key, known)
            fix = f"Did you mean “{near}”?" if near else f"Known: {', '.join(known)}."
            raise entry.fault("unknown key", *steps, key, fix=fix, of_key=True)
    return table


def _text(entry: Entry, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise entry.fault(f"must be a string, not {type_name(value)}", "sayso", "auth", key)
    if not value.strip() or not value.isprintable():
        raise entry.fault("must be one line of text", "sayso", "auth", key)
    return value


def _word(entry: Entry, texts: dict[str, str], key: str, words: tuple[str, ...]) -> str:
    word = texts[key]
    if word not in words:
        raise entry.fault(f"“{word}” is not one of {', '.join(words)}", "sayso", "auth", key)
    return word


def _address(entry: Entry, url: str) -> str:
    if fault := fault_of_url(url):
        raise entry.fault(fault[0], "sayso", "auth", "token_url")
    if not is_private(url):
        fix = "Use https, because a secret and a token are sent over it."
        raise entry.fault("the URL is not https", "sayso", "auth", "token_url", fix=fix)
    return url


def _secret(entry: Entry, text: str) -> Reference:
    reference = find_reference(text, Path(entry.file.path).absolute().parent)
    if reference is None:
        # The message does not quote the text, which may be the secret itself.
        fix = "Put the secret into the environment or a file of its own."
        what = f"must refer to the place of the secret: {FORM}"
        raise entry.fault(what, "sayso", "auth", "client_secret", fix=fix)
    return reference
