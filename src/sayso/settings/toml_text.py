"""Untrusted text as TOML strings, keys and comments."""

import re
from typing import Final

from sayso.schema import cut, is_unseen, plain

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\"}


def toml_string(text: str) -> str:
    r"""Return `text` as a TOML string on one line.

    Raises `UnicodeEncodeError` for a lone surrogate, which TOML cannot represent.

    >>> print(toml_string('a "b"\n'))
    "a \"b\"\u000a"
    """
    text.encode()
    return f'"{"".join(map(_escaped, text))}"'


def toml_key(text: str) -> str:
    """Return `text` as a TOML key: bare if possible, otherwise a string.

    >>> toml_key("crm"), toml_key("crm.eu")
    ('crm', '"crm.eu"')
    """
    return text if _BARE_KEY.fullmatch(text) else toml_string(text)


def toml_comment(text: str, limit: int) -> str:
    r"""Return at most `limit` characters of `text` for a comment, on one line.

    >>> toml_comment("a\nb", 10)
    'a\\u000ab'
    """
    return plain(cut(text, limit))


def _escaped(char: str) -> str:
    if is_unseen(char):
        number = ord(char)
        return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"  # noqa: PLR2004 - the last of \u
    return _ESCAPES.get(char, char)
