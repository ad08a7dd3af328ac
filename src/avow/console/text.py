"""Text from servers, models and clients, shown so that no character in it can hide or mislead."""

import re
import unicodedata
from typing import Final

from markupsafe import Markup, escape

_ODD: Final = re.compile(r"[^ -~]")
_ODD_IN_BLOCK: Final = re.compile(r"[^ -~\t\n]")

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
"""Letters, marks and signs that show nothing, beside the categories below (Unicode,
Default_Ignorable_Code_Point; the last of the signs are the blank Braille pattern and note head)."""


def is_hidden(char: str) -> bool:
    """Whether a character shows nothing by itself, or changes how others show.

    That is: control, format (bidi, joiners, tags), surrogate, private, unassigned, every line or
    space separator but the plain space, and blanks that Unicode counts as letters or marks.
    """
    category = unicodedata.category(char)
    if category[0] == "C" or category in ("Zl", "Zp"):
        return True
    if category == "Zs":
        return char != " "
    return any(low <= ord(char) <= high for low, high in _BLANK)


def reveal(text: str) -> str:
    """One line of text with each hidden character as its code point between angle quotes.

    >>> reveal(f"zero{chr(0x200B)}width").isprintable()
    True
    """
    return _ODD.sub(lambda match: _shown(match[0]), text)


def reveal_block(text: str) -> Markup:
    """Text of many lines as HTML: tabs and line ends stay, other hidden characters stand out."""
    parts: list[Markup] = []
    end = 0
    for match in _ODD_IN_BLOCK.finditer(text):
        if is_hidden(match[0]):
            parts += [escape(text[end : match.start()]), _MARKED.format(_shown(match[0]))]
            end = match.end()
    return Markup().join([*parts, escape(text[end:])])


def cut(text: str, limit: int) -> str:
    """The beginning of `text`, which says how much more there is."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… (and {len(text) - limit:,} more characters)"


_MARKED: Final = Markup('<mark class="odd">{}</mark>')


def _shown(char: str) -> str:
    return f"\u2039U+{ord(char):04X}\u203a" if is_hidden(char) else char
