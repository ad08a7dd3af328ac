"""Shortening of a text, with a marker."""

import unicodedata
from collections.abc import Callable
from typing import Final

MARKER: Final = "… [cut: "
"""The start of the marker."""

_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")
_MAX_JOINED: Final = 32


def clip(text: str, room: int, measure: Callable[[str], int] = len) -> str:
    """Return the beginning of `text` and a marker that states both lengths.

    `measure` of the result is at most `room`, unless the marker alone exceeds `room`. Combining
    marks stay with their character.

    >>> clip("word " * 1_000, 60)
    'word word word word … [cut: the first 20 of 5000 characters]'
    """
    high = min(room, len(text))
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if measure(marked(text, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    return marked(text, _boundary(text, high))


def marked(text: str, kept: int) -> str:
    """Return the first `kept` characters of `text` and the marker."""
    return f"{text[:kept]}{MARKER}the first {kept} of {len(text)} characters]"


def _boundary(text: str, kept: int) -> int:
    for back in range(min(_MAX_JOINED, kept)):
        end = kept - back
        follows = text[end : end + 1]
        is_joined = follows in _JOINERS or unicodedata.combining(follows or " ")
        if not is_joined and text[end - 1] != "\u200d":
            return end
    return kept
