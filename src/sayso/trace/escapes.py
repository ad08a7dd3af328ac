r"""Strings as strace writes them: in quotes, with `\n`, octal and hexadecimal escapes."""

import re
from typing import Final

_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"?', re.DOTALL)
_NAMED: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}


def plain(text: str) -> bytes:
    r"""The bytes of an escaped string without its quotes.

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
    """An escaped path as Python holds paths: bytes that are no UTF-8 become surrogates."""
    return plain(text).decode("utf-8", "surrogateescape")


def quoted(argument: str) -> bytes | None:
    """The bytes of an argument that is a string, such as `"a.txt"...`; `None` where it is none."""
    match = _QUOTED.match(argument)
    return match and plain(match[1])


def quoted_path(argument: str) -> str | None:
    """The path that an argument holds, or `None`."""
    match = _QUOTED.match(argument)
    return match and path(match[1])


def strings(argument: str) -> tuple[bytes, ...]:
    """All strings in an argument, such as the words of a command."""
    return tuple(plain(match[1]) for match in _QUOTED.finditer(argument))
