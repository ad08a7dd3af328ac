"""Shortening of a text, with a marker."""

import unicodedata
from collections.abc import Callable
from typing import Final

MARKER: Final = "… [cut: "
"""The start of the marker."""

_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")
_MAX_JOINED: Final = 32


def clip(text: str, room: int, measure: Callable[[str], int] = len) -> str:
    """Return the beginning of `text` and a marker with its length.

    `measure` of the result is at most `room`, unless the marker alone exceeds it. Characters are
    not separated from their combining marks.

    >>> clip("word " * 1_000, 60)
    'word word word word … [cut: the first 20 of 5000 characters]'
    """
    kept = min(room, len(text))
    least = 0
    while least < kept:
        middle = (least + kept + 1) // 2
        if measure(marked(text, middle)) <= room:
            least = middle
        else:
            kept = middle - 1
    return marked(text, _boundary(text, kept))


def marked(text: str, kept: int) -> str:
    """Return the first `kept` characters of `text` and the marker."""
    return f"{text[:kept]}{MARKER}the first {kept} of {len(text)} characters]"


def _boundary(text: str, kept: int) -> int:
    for back in range(min(_MAX_JOINED, kept)):
        at = kept - back
        follows = text[at : at + 1]
        is_joined = follows in _JOINERS or unicodedata.combining(follows or " ")
        if not is_joined and text[at - 1] != "\u200d":
            return at
    return kept
