r"""Strings as strace writes them: quoted, with `\\n`, octal and hexadecimal escapes."""

import re
from typing import Final

_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"?', re.DOTALL)
_NAMED: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}


def plain(text: str) -> bytes:
    r"""Return the bytes of an escaped string without its quotes.

    >>> plain(r"\7example\3com\0\0\34")
    b'\x07example\x03com\x00\x00\x1c'
    """
    if "\\" not in text:
        return text.encode("latin-1", "replace")
    return _ESCAPE.sub(_character, text).encode("latin-1", "replace")


def _character(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return _NAMED.get(code, code)


def path(text: str) -> str:
    """Return an escaped path as a Python path: bytes that are not UTF-8 become surrogates."""
    return plain(text).decode("utf-8", "surrogateescape")


def quoted(argument: str) -> bytes | None:
    """Return the bytes of a string argument such as `"a.txt"...`, or `None` for another kind."""
    match = _QUOTED.match(argument)
    return match and plain(match[1])


def quoted_path(argument: str) -> str | None:
    """Return the path in an argument, or `None`."""
    match = _QUOTED.match(argument)
    return match and path(match[1])


def strings(argument: str) -> tuple[bytes, ...]:
    """Return all strings in an argument, such as the words of a command."""
    return tuple(plain(match[1]) for match in _QUOTED.finditer(argument))
