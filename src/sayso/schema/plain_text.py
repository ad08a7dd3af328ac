"""Safe display of untrusted text in a terminal or a log."""

import re
import unicodedata
from typing import Final

_BLANK: Final = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0x1D159, 0x1D159),
    (0xE0100, 0xE01EF),
)
"""Ranges of invisible characters that count as letters, marks or symbols (Unicode,
Default_Ignorable_Code_Point; also the blank Braille pattern and the blank note head)."""

_TRACEPARENT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII
)
"""W3C Trace Context, section 3.2: version, trace id, parent id, flags."""


def plain(text: str) -> str:
    """Return untrusted text on one line, with control and direction characters escaped.

    An escape sequence in a tool's name must not reach the terminal, and a line break must not fake
    a line of sayso's own.
    """
    return "".join(f"\\u{ord(char):04x}" if is_unseen(char) else char for char in text)


NAME_CHARACTERS: Final = 60

_DOUBLE: Final = (
    '"\u00ab\u00bb\u02ba\u02dd\u02ee\u02f5\u02f6\u05f4\u201c\u201d\u201e\u201f\u2033\u2034\u2036\u2037'
    "\u2057\u275d\u275e\u2760\u2e42\u3003\u301d\u301e\u301f\uff02"
)
_SINGLE: Final = (
    "'`\u00b4\u02b9\u02bb\u02bc\u02bd\u02c8\u05f3\u2018\u2019\u201a\u201b\u2032\u2035"
    "\u275b\u275c\uff07"
)
QUOTES: Final = re.compile(f"[{_DOUBLE}{_SINGLE}]{{2,}}|[{_DOUBLE}]")
"""Characters that look like a double quote, including adjacent single quotes."""


def unquoted(text: str, limit: int = NAME_CHARACTERS) -> str:
    """Return an untrusted name for use between quotes: shortened, and without double quotes.

    >>> unquoted("x” is safe. Press “Allow", limit=11)
    "x' is safe.… (24 characters)"
    """
    name = " ".join(QUOTES.sub("'", text).split())
    if len(name) <= limit:
        return name
    return f"{name[:limit]}… ({len(text):,} characters)"


def quoted(text: str, limit: int = NAME_CHARACTERS) -> str:
    """Return an untrusted name between quotes, on one line.

    >>> quoted("amy")
    '“amy”'
    """
    return f"“{plain(unquoted(text, limit))}”"


def cut(text: str, limit: int) -> str:
    """Return the beginning of `text`, with the number of characters left out.

    >>> cut("abcdef", 4)
    'abcd… (and 2 more characters)'
    """
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… (and {len(text) - limit:,} more characters)"


def plain_code(line: str) -> str:
    r"""Return a line of a file like `plain`, but keep its tabs.

    >>> plain_code("\tprint('\x1b')")
    "\tprint('\\u001b')"
    """
    return "\t".join(plain(part) for part in line.split("\t"))


def sayable(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded, by question marks."""
    return text.encode(errors="replace").decode()


def is_unseen(char: str) -> bool:
    """Return whether a character controls a terminal, text direction or line breaks."""
    category = unicodedata.category(char)
    return category[0] == "C" or category in ("Zl", "Zp")


def is_hidden(char: str) -> bool:
    """Return whether a character is invisible, or changes how others are displayed.

    These are control, format (bidi, joiners, tags), surrogate, private and unassigned characters,
    all separators except the plain space, and the ranges in `_BLANK`.
    """
    if is_unseen(char) or unicodedata.category(char) == "Zs":
        return char != " "
    return any(low <= ord(char) <= high for low, high in _BLANK)


def read_traceparent(value: object) -> str | None:
    """Return `value` if it is a valid `traceparent`, else `None`.

    >>> read_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    >>> read_traceparent("password=hunter2")
    """
    if isinstance(value, str) and _TRACEPARENT.fullmatch(value):
        return value
    return None
