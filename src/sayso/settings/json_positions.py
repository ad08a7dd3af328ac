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


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object or array: its key or index, and its offsets in the text.

    From `key_at` to `end` stands all of it; in an array `key_at` is where the value begins.
    """

    step: Step
    key_at: int
    value_at: int
    end: int


def locate(text: str, path: Sequence[Step], *, of_key: bool = False) -> Position:
    """Where the value at `path` begins in `text`; with `of_key`, where its key does.

    Of a key that stands twice in one object, the last counts, as it does for `json`.
    Raises `KeyError` for a path that leads nowhere.

    >>> locate('{"a": [10, 20]}', ["a", 1])
    Position(line=1, column=12)
    >>> locate('{"a": [10, 20]}', ["a"], of_key=True)
    Position(line=1, column=2)
    """
    return position_at(text, offset_of(text, path, of_key=of_key))


def offset_of(text: str, path: Sequence[Step], *, of_key: bool = False) -> int:
    """Return the place that `locate` finds as an offset, counted from 0."""
    key_at = value_at = _skip_blank(text, 0)
    for step in path:
        found = _find(text, value_at, step)
        key_at = found.key_at
        value_at = found.value_at
    return key_at if of_key else value_at


def members(text: str, path: Sequence[Step]) -> tuple[Member, ...]:
    """The members of the object or array at `path`, in their order; none for other values.

    >>> [(member.step, member.end) for member in members('{"a": [10, 20]}', ["a"])]
    [(0, 9), (1, 13)]
    """
    return tuple(_members(text, offset_of(text, path)))


def position_at(text: str, offset: int) -> Position:
    """The line and column of the character at `offset`."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _find(text: str, offset: int, wanted: Step) -> Member:
    return {member.step: member for member in _members(text, offset)}[wanted]


def _members(text: str, offset: int) -> Iterator[Member]:
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
        value_at = offset
        _, end = _DECODER.raw_decode(text, offset)
        yield Member(step, key_at, value_at, end)
        offset = _skip_blank(text, end)
        if text[offset] == ",":
            offset = _skip_blank(text, offset + 1)
        index += 1


def _skip_blank(text: str, offset: int) -> int:
    while offset < len(text) and text[offset] in _BLANK:
        offset += 1
    return offset
