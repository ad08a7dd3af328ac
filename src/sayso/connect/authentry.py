"""`sayso` in an entry of a client's configuration, for sayso alone: every fault with its place."""

from pathlib import Path
from typing import Any, Final, cast

from sayso.connect.address import fault_of_url, is_private
from sayso.connect.auth import AuthKind, UpstreamAuth
from sayso.connect.entry import Entry, nearest
from sayso.connect.kinds import Contract
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
    """How to prove oneself to the entry's server; `None` where it says nothing of that.

    Raises `ConfigError` for the first mistake.
    """
    ours = _ours(entry)
    if ours.get("auth") is None:
        return None
    table = _table(entry, ours["auth"], "sayso", "auth", known=(*_NEEDED, *_OTHERS))
    for key in _NEEDED:
        if table.get(key) is None:
            raise entry.fault(f"the key “{key}” is missing here", "sayso", "auth", fix=_EXAMPLE)
    texts = {key: _text(entry, key, value) for key, value in table.items() if value is not None}
    way = _word(entry, texts, "client_auth", _CLIENT_AUTH) if "client_auth" in texts else ""
    return UpstreamAuth(
        type=AuthKind(_word(entry, texts, "type", tuple(AuthKind))),
        token_url=_address(entry, texts["token_url"]),
        client_id=texts["client_id"],
        client_secret=_secret(entry, texts["client_secret"]),
        is_secret_in_body=way == "client_secret_post",
        scope=texts.get("scope"),
        resource=texts.get("resource"),
        audience=texts.get("audience"),
    )


def read_shared(entry: Entry) -> bool:
    """Whether all principals share one connection to the entry's server: `"shared": true`.

    Raises `ConfigError` where that is no boolean.
    """
    found = _ours(entry).get("shared")
    if found is None or isinstance(found, bool):
        return bool(found)
    raise entry.fault(f"must be true or false, not {type_name(found)}", "sayso", "shared")


def read_contract(entry: Entry) -> Contract | None:
    """Whether the entry's server is held to its read-only tools, and its own state.

    Raises `ConfigError` for the first mistake.
    """
    ours = _ours(entry)
    is_held = ours.get("contract")
    if is_held is not None and not isinstance(is_held, bool):
        raise entry.fault(f"must be true or false, not {type_name(is_held)}", "sayso", "contract")
    own = ours.get("own")
    if not is_held:
        if own is not None:
            fix = 'Write "contract": true beside it, or take it out.'
            raise entry.fault("means nothing without “contract”", "sayso", "own", fix=fix)
        return None
    return Contract(() if own is None else _own(entry, own))


def _own(entry: Entry, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        fix = 'Write it as ["~/.local/share/NAME"].'
        raise entry.fault(
            f"must be an array of paths, not {type_name(value)}", "sayso", "own", fix=fix
        )
    return tuple(
        entry.path(path, "sayso", "own", index)
        for index, path in enumerate(cast("list[object]", value))
    )


def _ours(entry: Entry) -> dict[str, Any]:
    """What the entry holds for sayso alone."""
    found = entry.fields.get("sayso")
    return (
        {}
        if found is None
        else _table(entry, found, "sayso", known=("auth", "contract", "own", "shared"))
    )


def _table(entry: Entry, value: object, *steps: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise entry.fault(f"must be an object, not {type_name(value)}", *steps, fix=_EXAMPLE)
    table = cast("dict[str, Any]", value)
    for key in table:
        if key not in known:
            near = nearest(key, known)
            fix = f"Did you mean “{near}”?" if near else f"Known keys are {', '.join(known)}."
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
        what = f"“{word}” is none of {', '.join(words)}"
        raise entry.fault(what, "sayso", "auth", key)
    return word


def _address(entry: Entry, url: str) -> str:
    if fault := fault_of_url(url):
        raise entry.fault(fault[0], "sayso", "auth", "token_url")
    if not is_private(url):
        fix = "Use https: a secret and a token go there."
        raise entry.fault("the URL is not https", "sayso", "auth", "token_url", fix=fix)
    return url


def _secret(entry: Entry, text: str) -> Reference:
    found = find_reference(text, Path(entry.file.path).absolute().parent)
    if found is None:
        # Without the text: it is a secret where none belongs.
        fix = "Put the secret into the environment or a file of its own."
        what = f"must say where the secret is: {FORM}"
        raise entry.fault(what, "sayso", "auth", "client_secret", fix=fix)
    return found
