"""Servers as they may be shown: what may be a secret is masked, wherever an entry holds it."""

import difflib
import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit

from sayso.clients.document import as_object
from sayso.schema import MASK, redact

_SHOWN: Final = frozenset({"command", "cwd", "disabled", "enabled", "envFile", "transport", "type"})
_URLS: Final = ("url", "httpUrl", "serverUrl")
_VARIABLE: Final = re.compile(r"\$\w+|\$\{(?![^}]*:-)[\w:./-]*\}")
_DEFAULT: Final = re.compile(r":-[^{}]+")
_SETTING: Final = re.compile(r"(?P<name>-{0,2}[\w.-]+)(?P<sign>=|:\s?)(?P<value>.+)", re.DOTALL)
_FLAG: Final = re.compile(r"--?[A-Za-z][\w-]*")
_SHORT_NAMES: Final = frozenset({"auth", "bearer", "key", "pat", "pw", "pwd", "h", "header", "e"})
"""Names too common for `redact`, which is about arguments of tools."""

_LONG: Final = re.compile(r"(?=[\w-]*\d)[\w-]{20,}")
"""What may be a token: long, in one piece, with a digit."""

_MAX_ARGUMENTS: Final = 100
"""Arguments of a server that a list of servers shows."""

_MAX_ARGUMENT_CHARACTERS: Final = 2_000
"""A longer argument is masked unread."""


def masked(entry: Any) -> Any:
    """A copy of a server's entry without its secrets.

    All values under `env` and `headers` are masked, and of unknown keys; in a URL the query and
    what looks like a token; in arguments what is named like a secret, or looks like one.
    """
    if not isinstance(entry, dict):
        return MASK
    return {key: _field(key, value) for key, value in cast("dict[str, Any]", entry).items()}


def reached_by(entry: Any) -> tuple[str, str]:
    """How an entry is reached, `stdio` or `http`, and its command or URL, masked."""
    fields = as_object(masked(_shortened(entry)))
    for key in _URLS:
        if isinstance(fields.get(key), str):
            return ("sse" if fields.get("type") == "sse" else "http"), fields[key]
    args = fields.get("args")
    words = [fields.get("command", ""), *cast("list[Any]", args if isinstance(args, list) else [])]
    return "stdio", " ".join(_quoted(str(word)) for word in words)


def _shortened(entry: Any) -> Any:
    """Return an entry with its first arguments, long ones masked: a file may hold megabytes."""
    fields = as_object(entry)
    if not isinstance(fields.get("args"), list):
        return entry
    words: list[Any] = fields["args"]
    first = [_short_word(word) for word in words[:_MAX_ARGUMENTS]]
    more = len(words) - len(first)
    return {**fields, "args": [*first, f"… {more:,} more"] if more else first}


def _short_word(word: Any) -> Any:
    is_long = isinstance(word, str) and len(word) > _MAX_ARGUMENT_CHARACTERS
    return MASK if is_long else word


def difference(before: Mapping[str, Any], after: Mapping[str, Any], key: str) -> list[str]:
    """The lines in which two objects of servers differ, masked, in the form of a unified diff."""
    old, new = (_lines(key, servers) for servers in (before, after))
    return list(difflib.unified_diff(old, new, "as it is", "as it would be", n=3, lineterm=""))


def _lines(key: str, servers: Mapping[str, Any]) -> list[str]:
    shown = {name: masked(entry) for name, entry in servers.items()}
    return json.dumps({key: shown}, indent=2, ensure_ascii=False).split("\n")


def _field(key: str, value: Any) -> Any:
    if key in ("env", "headers") and isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        return {name: _secret(text) for name, text in pairs.items()}
    if key == "args" and isinstance(value, list):
        return _args(cast("list[Any]", value))
    if isinstance(value, str):
        if key in _URLS:
            return _url(value)
        return redact(value) if key in _SHOWN else MASK
    return value if value is None or isinstance(value, bool | int | float) else MASK


def _secret(value: Any) -> Any:
    """A mask, but for what is no value: empty, or a variable's name without a default."""
    return value if isinstance(value, str) and (not value or _VARIABLE.fullmatch(value)) else MASK


def _args(words: list[Any]) -> list[Any]:
    found: list[Any] = []
    before = ""
    for word in words:
        found.append(_word(word, before) if isinstance(word, str) else MASK)
        before = word if isinstance(word, str) and _FLAG.fullmatch(word) else ""
    return found


def _word(word: str, flag: str) -> str:
    """One argument, after a flag that may name it."""
    if flag and _is_named_secret(flag):
        setting = _SETTING.fullmatch(word)
        return f"{setting['name']}{setting['sign']}{MASK}" if setting else str(_secret(word))
    if "://" in word:
        return _url(word)
    if (setting := _SETTING.fullmatch(word)) and _is_named_secret(setting["name"]):
        return f"{setting['name']}{setting['sign']}{MASK}"
    return MASK if _LONG.fullmatch(word) else str(redact(_DEFAULT.sub(f":-{MASK}", word)))


def _is_named_secret(name: str) -> bool:
    bare = name.lstrip("-").lower()
    return bare in _SHORT_NAMES or redact({bare: "x"}) != {bare: "x"}


def _url(url: str) -> str:
    """A URL without a password, its query, and parts of its path that may be a token."""
    head, scheme, rest = url.partition("://")
    try:
        parts = urlsplit(f"//{rest}" if scheme else url)
    except ValueError:
        return MASK
    host = f"{MASK}@{parts.netloc.rpartition('@')[2]}" if "@" in parts.netloc else parts.netloc
    path = "/".join(MASK if _LONG.fullmatch(part) else part for part in parts.path.split("/"))
    tail = (f"?{MASK}" if parts.query else "") + (f"#{MASK}" if parts.fragment else "")
    setting = _SETTING.fullmatch(head)
    before = f"{setting['name']}{setting['sign']}" if setting else ""
    named = before.rstrip("=: ")
    if named and _is_named_secret(named):
        return f"{before}{MASK}"
    return str(redact(f"{head}{scheme}{host}{path}{tail}"))


def _quoted(word: str) -> str:
    return shlex.quote(word) if not word or re.search(r"[\s'\"\\]", word) else word
