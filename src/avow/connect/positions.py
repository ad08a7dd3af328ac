"""Where a value stands in a JSON text: its line and column, by the keys that lead to it.

Python's `json` says nothing of positions. They are wanted only for an error, so nothing is
recorded while reading: the text, known to be JSON, is walked once more along one path.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json import JSONDecoder
from typing import Final

Step = str | int
"""A key of an object or an index of an array."""

_BLANK: Final = " \t\r\n"
_DECODER: Final = JSONDecoder()


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text, both numbers counted from 1; a column counts characters, not bytes."""

    line: int
    column: int


def locate(text: str, path: Sequence[Step], *, of_key: bool = False) -> Position:
    """Where the value at `path` begins in `text`; with `of_key`, where its key does.

    Of a key that stands twice in one object, the last counts, as it does for `json`.
    Raises `KeyError` for a path that leads nowhere.

    >>> locate('{"a": [10, 20]}', ["a", 1])
    Position(line=1, column=12)
    >>> locate('{"a": [10, 20]}', ["a"], of_key=True)
    Position(line=1, column=2)
    """
    key_at = value_at = _skip_blank(text, 0)
    for step in path:
        key_at, value_at = _find(text, value_at, step)
    return position_at(text, key_at if of_key else value_at)


def position_at(text: str, offset: int) -> Position:
    """The line and column of the character at `offset`."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _find(text: str, offset: int, wanted: Step) -> tuple[int, int]:
    """Offsets of the key and the value of a member; of an item of an array, the value's twice."""
    found: tuple[int, int] | None = None
    for step, key_at, value_at in _members(text, offset):
        if step == wanted:
            found = key_at, value_at
    if found is None:
        raise KeyError(wanted)
    return found


def _members(text: str, offset: int) -> Iterator[tuple[Step, int, int]]:
    """Each member of the object or array at `offset`: its key or index, and its offsets."""
    opening = text[offset]
    if opening not in "{[":
        return
    offset = _skip_blank(text, offset + 1)
    index = 0
    while text[offset] not in "}]":
        step: Step = index
        key_at = offset
        if opening == "{":
            step, offset = _DECODER.raw_decode(text, offset)
            offset = _skip_blank(text, _skip_blank(text, offset) + 1)
        yield step, key_at, offset
        _, offset = _DECODER.raw_decode(text, offset)
        offset = _skip_blank(text, offset)
        if text[offset] == ",":
            offset = _skip_blank(text, offset + 1)
        index += 1


def _skip_blank(text: str, offset: int) -> int:
    while offset < len(text) and text[offset] in _BLANK:
        offset += 1
    return offset
