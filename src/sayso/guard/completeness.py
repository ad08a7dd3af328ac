"""Correction of the fields in a cut result that state whether the result is complete.

Servers use many names: `truncated` (`CUT`), `hasNextPage` (`MORE`), `is_last_page` (`END`). A field
is changed only if the tool's schema accepts the changed result.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from sayso.schema import Cut, Piece, ValuePath, put, subschemas

Accepts = Callable[[Any], bool]
"""A check that a value fits the tool's schema."""

_THINGS: Final = (
    "results?|items?|pages?|data|rows?|records?|entries|lists?|output|content|text|body"
)
_MAX_NAME: Final = 64
_MAX_DEPTH: Final = 3


CUT: Final = re.compile(
    rf"(?:is|was|are|were|has|been|response|{_THINGS})*"
    rf"(?:truncated|truncation|partial|incomplete|clipped|abridged|shortened|limitreached)"
    rf"(?:response|{_THINGS})*"
)
MORE: Final = re.compile(
    rf"(?:(?:has|have|is|are)(?:there)?(?:more|next|additional|further)|more)"
    rf"(?:available|exists?|remaining|left|{_THINGS})*"
)
END: Final = re.compile(
    rf"(?:is|are|was|at|has|reached|the)*"
    rf"(?:last|final|complete|exhausted|exhaustive|nomore|all|end|endof|eof)(?:{_THINGS})?"
)
OMITTED: Final = re.compile(
    rf"(?:num|number|count|of|{_THINGS})*(?:omitted|leftout|notshown|remaining)"
    rf"(?:count|number|{_THINGS})*"
)
RETURNED: Final = re.compile(
    rf"(?:num|number|count|of|{_THINGS})*(?:returned|shown|displayed)(?:count|number|{_THINGS})*"
)
_PAGING: Final = re.compile(
    "meta|page|pagi|paging|link|cursor|info|summary|truncat|stat|envelope|range|count|total|"
    "navigation|result|search|query|response|header|window"
)


class CompletenessError(Exception):
    """The schema forces a cut result to state that it is complete."""


def plain(name: str) -> str:
    """Return a field's name in lower case, with letters only."""
    return re.sub(r"[^a-z]", "", name[:_MAX_NAME].lower())


def is_paging(name: str) -> bool:
    """Return whether an object with this name describes a list next to it, such as `page_info`."""
    return _PAGING.search(plain(name)) is not None


def corrected(cut: Cut, accepts: Accepts, schema: Mapping[str, Any] | None) -> Any:
    """Return the value of `cut` with every completeness field corrected.

    Adds missing fields that the schema defines. Raises `CompletenessError` if the schema allows a
    wrong field neither to be changed nor to be removed.
    """
    value = cut.value
    for piece in cut.pieces:
        for holder, is_near in _holders(value, piece, schema):
            names = [*_members(value, holder), *_known(schema, holder)]
            for name in dict.fromkeys(names):
                value = _stated(value, (*holder, name), piece, accepts, is_near=is_near)
    return value


def _stated(value: Any, path: ValuePath, piece: Piece, accepts: Accepts, *, is_near: bool) -> Any:
    """Return `value` with the field at `path` corrected, added or removed."""
    name = plain(cast("str", path[-1]))
    members = _members(value, path[:-1])
    is_there = path[-1] in members
    old = members.get(cast("str", path[-1]))
    candidates = _new_values(name, old, piece, is_there=is_there, is_near=is_near)
    if not candidates:
        return value
    for new in candidates:
        changed = _set(value, path, new)
        if accepts(changed):
            return changed
    if not is_there or old is None:
        return value
    without = put(
        value, path[:-1], {key: member for key, member in members.items() if key != path[-1]}
    )
    if accepts(without):
        return without
    raise CompletenessError


def _new_values(
    name: str, old: Any, piece: Piece, *, is_there: bool, is_near: bool
) -> tuple[bool | int | str, ...]:
    """Return the possible new values of a field, best first; no values if it needs no change."""
    left = piece.total - piece.kept
    is_list = is_near and not piece.is_text
    is_number = isinstance(old, int | float) and not isinstance(old, bool)
    is_unset = old is None or _is_zero(old)
    if CUT.fullmatch(name):
        if not is_unset:
            return _turned(old, to=True)
        return (True, 1, left) if old is None else (1, left)
    if is_list and MORE.fullmatch(name):
        if not is_unset:
            return _turned(old, to=True)
        return (True, left) if old is None else (left, 1)
    if is_there and is_near and END.fullmatch(name) and (is_list or "complete" in name):
        return _turned(old, to=False)
    if is_list and OMITTED.fullmatch(name) and is_unset:
        # A number other than 0 may count something else, such as remaining calls, so it stays.
        return (left,)
    if is_list and RETURNED.fullmatch(name) and is_number and old == piece.total:
        return (piece.kept,)
    return ()


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0


_OPPOSITES: Final = {True: {"false": "true", "no": "yes"}, False: {"true": "false", "yes": "no"}}


def _turned(old: Any, *, to: bool) -> tuple[bool | str, ...]:
    """Return the values that mean `to`, in the type of `old`; none if `old` cannot be reversed."""
    if isinstance(old, bool) and old is not to:
        return (to,)
    if not isinstance(old, str):
        return ()
    word = _OPPOSITES[to].get(old.strip().lower())
    if word is None:
        return ()
    return word, word.capitalize(), word.upper()


def _holders(
    value: Any, piece: Piece, schema: Mapping[str, Any] | None
) -> Iterator[tuple[ValuePath, bool]]:
    """Yield the objects that may describe a cut piece, and whether each describes only that piece.

    These are the objects that contain the piece, and their members named like `pagination`. If the
    piece is inside an item of an outer list, objects around the item describe the outer list.
    """
    is_near = True
    for depth in range(len(piece.path) - 1, -1, -1):
        step = piece.path[depth]
        holder = piece.path[:depth]
        if isinstance(step, int):
            is_near = False
            continue
        yield holder, is_near
        for sibling in _siblings(value, holder, schema, step, 1):
            yield sibling, is_near


def _siblings(
    value: Any, holder: ValuePath, schema: Mapping[str, Any] | None, left_out: str, depth: int
) -> Iterator[ValuePath]:
    members = _members(value, holder)
    absent = [name for name in _known(schema, holder) if members.get(name) is None]
    objects = [key for key, member in members.items() if isinstance(member, Mapping)]
    for key in (*objects, *absent):
        if key == left_out or not is_paging(key):
            continue
        yield (*holder, key)
        if depth < _MAX_DEPTH:
            yield from _siblings(value, (*holder, key), schema, "", depth + 1)


def _members(value: Any, path: ValuePath) -> Mapping[str, Any]:
    for step in path:
        if isinstance(step, int):
            value = cast("list[Any]", value)[step]
        elif isinstance(value, Mapping):
            value = cast("Mapping[str, Any]", value).get(step)
        else:
            return {}
    if not isinstance(value, Mapping):
        return {}
    return cast("Mapping[str, Any]", value)


def _known(schema: Mapping[str, Any] | None, path: ValuePath) -> list[str]:
    names: list[str] = []
    for part in subschemas(schema, path):
        properties = part.get("properties")
        if isinstance(properties, Mapping):
            names += cast("Mapping[str, Any]", properties)
    return names


def _set(value: Any, path: ValuePath, new: Any) -> Any:
    outer = path[:-1]
    name = cast("str", path[-1])
    holder = {**_members(value, outer), name: new}
    if not outer:
        return holder
    if isinstance(outer[-1], int):
        return put(value, outer, holder)
    return _set(value, outer, holder)
