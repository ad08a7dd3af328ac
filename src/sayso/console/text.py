"""Text from servers, models and clients, shown so that no character in it can hide or mislead."""

import json
import re
from functools import lru_cache
from typing import Any, Final

from markupsafe import Markup, escape

from sayso.schema import is_hidden

_ODD: Final = re.compile(r"[^ -~]")
_ODD_IN_BLOCK: Final = re.compile(r"[^ -~\t\n]")


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


def as_json(value: Any, indent: int | None = None) -> str:
    """A JSON value as text to be read.

    >>> as_json({"a": None})
    '{"a": null}'
    """
    return json.dumps(value, ensure_ascii=False, indent=indent, default=str)


def kept(text: str) -> Markup:
    """What a person put into a field, given back into it as it was: not to be shown elsewhere."""
    return escape(text.encode(errors="replace").decode())


_MARKED: Final = Markup('<mark class="odd">{}</mark>')


@lru_cache(maxsize=4096)
def _shown(char: str) -> str:
    return f"\u2039U+{ord(char):04X}\u203a" if is_hidden(char) else char
