"""Positions of values in a JSON text, by their path.

Python's `json` reports no positions. Only errors need them, so they are not recorded at parsing.
Instead, the valid text is walked again along one path.
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
    """A position in a text, counted from 1; columns count characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object or array, with its offsets from `key_at` to `end`.

    In an array `key_at` equals `value_at`.
    """

    step: Step
    key_at: int
    value_at: int
    end: int


def locate(text: str, path: Sequence[Step], *, of_key: bool = False) -> Position:
    """Return the position of the value at `path` in `text`; with `of_key`, of its key.

    The last of duplicate keys counts, as for `json`. Raises `KeyError` for an unknown path.

    >>> locate('{"a": [10, 20]}', ["a", 1])
    Position(line=1, column=12)
    >>> locate('{"a": [10, 20]}', ["a"], of_key=True)
    Position(line=1, column=2)
    """
    return position_at(text, offset_of(text, path, of_key=of_key))


def offset_of(text: str, path: Sequence[Step], *, of_key: bool = False) -> int:
    """Return the offset of the value at `path`, or of its key, counted from 0."""
    key_at = value_at = _skip_blank(text, 0)
    for step in path:
        member = {member.step: member for member in _members(text, value_at)}[step]
        key_at = member.key_at
        value_at = member.value_at
    return key_at if of_key else value_at


def members(text: str, path: Sequence[Step]) -> tuple[Member, ...]:
    """Return the members of the object or array at `path`; for other values an empty tuple.

    >>> [(member.step, member.end) for member in members('{"a": [10, 20]}', ["a"])]
    [(0, 9), (1, 13)]
    """
    return tuple(_members(text, offset_of(text, path)))


def position_at(text: str, offset: int) -> Position:
    """Return the line and column of the character at `offset`."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


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
