"""Redaction: what is written down about a call without what must not be written down."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

MASK: Final = "•••"

_SECRET_NAME: Final = re.compile(
    r"password|passwd|passphrase|(^|[_-])pass$|secret|token|api[_-]?key|credential|authorization|private[_-]?key"
    r"|cookie|^pin$|^otp$",
    re.IGNORECASE,
)
_NOT_SECRET: Final = re.compile(r"^(max|min|n|num|count)_?tokens?$|page_?token", re.IGNORECASE)
_COUNTED: Final = re.compile(r"tokens$", re.IGNORECASE)
_SECRET_VALUE: Final = re.compile(
    r"""
      # keys of payment and model services, code hosts, chats, clouds; tokens; passwords in URLs
      \b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bglpat-[A-Za-z0-9_-]{16,}
    | \bavow_[A-Za-z0-9]{8,20}_[A-Za-z0-9]{20,}
    | \bxox[abprs]-[A-Za-z0-9-]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,}
      # a JSON Web Token; each part is possessive, so that no text makes this slow
    | (?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+
      # a private key: only its own letters, so that nothing else can hide behind its first line
    | -----BEGIN[ A-Z]{0,40}PRIVATE\ KEY-----[A-Za-z0-9+/=\r\n]{64,20000}+
      (?:-----END[ A-Z]{0,40}PRIVATE\ KEY-----)?
    | (?<=://)[^/\ \t-\r:@]{0,200}:[^/\ \t-\r]{1,200}(?=@)              # user:password in a URL
    | (?i:(?<=bearer\ ))[A-Za-z0-9_-]{12,}+(?:\.[A-Za-z0-9_-]++)*+
    """,
    # A letter of another script ends no key: a language without spaces has one right before it.
    re.VERBOSE | re.ASCII,
)
_SUSPECT: Final = re.compile(r"[A-Za-z0-9_-]{10}|://")
"""What every `_SECRET_VALUE` holds. Most short texts do not, and this says so many times faster."""
_MARKS: Final = (
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat_", "glpat-", "avow_", "xox", "AKIA", "ASIA", "AIza", "eyJ"),
    *("-----BEGIN", "://"),
)
"""One of these, or `bearer`, stands in every `_SECRET_VALUE`. To look for each of them takes a long
text a thirtieth of the time."""
_LONG: Final = 1000
_PLAIN: Final = (int, float, type(None))
_LONGEST_KNOWN: Final = 64
"""Longer names are not remembered, so that nobody fills the memory with them."""


def redact(value: Any) -> Any:
    """A copy of JSON `value` with secrets masked, by the name of a field and by their look.

    Numbers and booleans under a secret name are masked too; empty values are left, since they
    hold nothing.
    """
    if isinstance(value, str):
        return _SECRET_VALUE.sub(MASK, value) if _may_hold_secret(value) else value
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {key: _field(key, one) for key, one in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [redact(one) for one in cast("Sequence[Any]", value)]
    return value


def _may_hold_secret(text: str) -> bool:
    if len(text) < _LONG:
        return bool(_SUSPECT.search(text))
    return any(mark in text for mark in _MARKS) or "bearer " in text.lower()


def _field(name: str, value: Any) -> Any:
    """The value of a field. An object under a secret name is looked into like any other.

    A secret is one value or a list of them; more than that could hide what a call does from the
    person who is asked about it.
    """
    if not _is_secret(name, value) or isinstance(value, Mapping):
        return redact(value)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [redact(one) if isinstance(one, Mapping | list) else MASK for one in items]
    return MASK


def _is_secret(name: str, value: Any) -> bool:
    has_secret_name = _is_known_secret if len(name) <= _LONGEST_KNOWN else _is_secret_name
    if not has_secret_name(name):
        return False
    # `tokens: 800` is how many, `tokens: ["a1b2"]` is which.
    is_count = isinstance(value, int | float) and _COUNTED.search(name)
    return not is_count and value not in (None, "", [], {})


def _is_secret_name(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _NOT_SECRET.search(name)


_is_known_secret: Final = lru_cache(2048)(_is_secret_name)
