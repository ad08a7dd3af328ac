"""Servers for display, with all possible secrets masked."""

import difflib
import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit

from sayso.clients.document import as_list, as_object
from sayso.schema import MASK, redact

_SHOWN: Final = frozenset({"command", "cwd", "disabled", "enabled", "envFile", "transport", "type"})
_URLS: Final = ("url", "httpUrl", "serverUrl")
_VARIABLE: Final = re.compile(r"\$\w+|\$\{(?![^}]*:-)[\w:./-]*\}")
_DEFAULT: Final = re.compile(r":-[^{}]+")
_SETTING: Final = re.compile(r"(?P<name>-{0,2}[\w.-]+)(?P<sign>=|:\s?)(?P<value>.+)", re.DOTALL)
_FLAG: Final = re.compile(r"--?[A-Za-z][\w-]*")
_SHORT_NAMES: Final = frozenset({"auth", "bearer", "key", "pat", "pw", "pwd", "h", "header", "e"})
"""Names of secrets that `redact` ignores, because they are too common as tool arguments."""
_LONG: Final = re.compile(r"(?=[\w-]*\d)[\w-]{20,}")
"""A possible token: long, in one piece, with a digit."""
_MAX_ARGUMENTS: Final = 100
"""The number of a server's arguments that a list of servers shows."""
_MAX_ARGUMENT_CHARACTERS: Final = 2_000
"""A longer argument is masked without parsing it."""


def masked(entry: Any) -> Any:
    """Return a copy of a server's entry with secrets masked.

    Masks all values under `env`, `headers` and unknown keys; queries and possible tokens in URLs;
    arguments that are named like a secret or look like one.
    """
    if not isinstance(entry, dict):
        return MASK
    return {key: _field(key, value) for key, value in cast("dict[str, Any]", entry).items()}


def reached_by(entry: Any) -> tuple[str, str]:
    """Return an entry's transport (stdio, http or sse), and its command or URL, masked."""
    fields = as_object(masked(_shortened(entry)))
    for key in _URLS:
        if isinstance(fields.get(key), str):
            if fields.get("type") == "sse":
                return "sse", fields[key]
            return "http", fields[key]
    words = [fields.get("command", ""), *as_list(fields.get("args"))]
    return "stdio", " ".join(_quoted(str(word)) for word in words)


def _shortened(entry: Any) -> Any:
    """Return an entry with only its first arguments; long arguments are masked."""
    fields = as_object(entry)
    if not isinstance(fields.get("args"), list):
        return entry
    words: list[Any] = fields["args"]
    first = [_short_word(word) for word in words[:_MAX_ARGUMENTS]]
    if more := len(words) - len(first):
        first.append(f"… {more:,} more")
    return {**fields, "args": first}


def _short_word(word: Any) -> Any:
    if isinstance(word, str) and len(word) > _MAX_ARGUMENT_CHARACTERS:
        return MASK
    return word


def difference(before: Mapping[str, Any], after: Mapping[str, Any], key: str) -> list[str]:
    """Return a unified diff of two objects of servers, with secrets masked."""
    texts = (_lines(key, before), _lines(key, after))
    return list(difflib.unified_diff(*texts, "before", "after", n=3, lineterm=""))


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
        if key in _SHOWN:
            return redact(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return MASK


def _secret(value: Any) -> Any:
    """Return a mask. An empty text and a variable without a default stay as they are."""
    if isinstance(value, str) and (not value or _VARIABLE.fullmatch(value)):
        return value
    return MASK


def _args(words: list[Any]) -> list[Any]:
    return [_word(word, before) for before, word in zip(["", *words[:-1]], words, strict=True)]


def _word(word: Any, before: Any) -> str:
    """Return one argument, masked if it is a secret or if the flag `before` it names one."""
    if not isinstance(word, str):
        return MASK
    setting = _SETTING.fullmatch(word)
    if isinstance(before, str) and _FLAG.fullmatch(before) and _is_named_secret(before):
        return _masked_setting(setting) or _secret(word)
    if "://" in word:
        return _url(word)
    if setting and _is_named_secret(setting["name"]):
        return _masked_setting(setting)
    if _LONG.fullmatch(word):
        return MASK
    return str(redact(_DEFAULT.sub(f":-{MASK}", word)))


def _masked_setting(setting: re.Match[str] | None) -> str:
    if setting is None:
        return ""
    return f"{setting['name']}{setting['sign']}{MASK}"


def _part(text: str) -> str:
    return MASK if _LONG.fullmatch(text) else text


def _is_named_secret(name: str) -> bool:
    bare = name.lstrip("-").lower()
    return bare in _SHORT_NAMES or redact({bare: "x"}) != {bare: "x"}


def _url(url: str) -> str:
    """Return a URL with its password, its query and possible tokens in its path masked."""
    head, scheme, rest = url.partition("://")
    try:
        parts = urlsplit(f"//{rest}" if scheme else url)
    except ValueError:
        return MASK
    setting = _SETTING.fullmatch(head)
    if setting and _is_named_secret(setting["name"]):
        return _masked_setting(setting)
    user, at, host = parts.netloc.rpartition("@")
    if at:
        user = MASK
    shown = f"{head}{scheme}{user}{at}{host}" + "/".join(map(_part, parts.path.split("/")))
    if parts.query:
        shown += f"?{MASK}"
    if parts.fragment:
        shown += f"#{MASK}"
    return str(redact(shown))


def _quoted(word: str) -> str:
    if not word or re.search(r"[\s'\"\\]", word):
        return shlex.quote(word)
    return word
