"""Truncation of a result to a number of characters: lists and texts lose their ends.

The value keeps matching its schema: a list keeps `minItems` items and at least one, and a text is
cut only if its schema allows any text.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final, cast

import msgspec

from sayso.schema.clipping import MARKER, clip
from sayso.schema.compact import write_json
from sayso.schema.subschema_walk import subschemas

LIMIT: Final = 25_000
"""The default limit of a result, in characters of JSON."""

MIN_TEXT_CHARACTERS: Final = 100
"""Texts up to this length are never cut."""

_MAX_DEPTH: Final = 200
_MAX_ROUNDS: Final = 8
_MIN_SHARE: Final = 8
"""While lists can be cut, a text keeps at least an eighth of the limit."""

_MAX_TRIES: Final = 50
_SHORT: Final = frozenset({bool, float, int, type(None)})
_FIXED: Final = frozenset(
    {"const", "contentEncoding", "contentMediaType", "contentSchema", "enum", "format"}
)
"""Keywords of texts that must not be cut."""

ValuePath = tuple[str | int, ...]
Accepts = Callable[[Any], bool]
"""A function that returns whether a cut value is still valid."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A cut list or text: `kept` of its `total` items or characters remain."""

    path: ValuePath
    kept: int
    total: int
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """A value after truncation, with its cut `pieces`, lists before texts.

    `fits` is false if the value is still longer than the limit but nothing more may be cut.
    `notice` is a sentence about what was left out. It is empty if nothing was.
    """

    value: Any
    pieces: tuple[Piece, ...] = ()
    fits: bool = True
    notice: str = ""

    @property
    def is_cut(self) -> bool:
        return bool(self.pieces)

    @property
    def first(self) -> Piece:
        return self.pieces[0] if self.pieces else Piece((), 0, 0)

    @property
    def path(self) -> ValuePath:
        return self.first.path

    @property
    def kept(self) -> int:
        """The remaining items, or characters, of the first piece."""
        return self.first.kept

    @property
    def total(self) -> int:
        """The original items, or characters, of the first piece."""
        return self.first.total


def size(value: Any) -> int:
    """Return the length of `value` as compact JSON, in characters."""
    return len(write_json(value))


def sizes(items: list[Any]) -> list[int]:
    """Return the `size` of each item, computed in one pass.

    >>> sizes([1, "ab", []])
    [1, 4, 2]
    """
    try:
        lines = msgspec.json.Encoder().encode_lines(items).decode()
    except ValueError:  # a lone surrogate
        return [size(item) for item in items]
    # JSON contains no unescaped line breaks.
    return [len(line) for line in lines.split("\n")[: len(items)]]


def _anything(_: Any) -> bool:
    return True


def truncate(
    value: Any,
    schema: Mapping[str, Any] | None = None,
    *,
    limit: int = LIMIT,
    accepts: Accepts = _anything,
) -> Cut:
    """Cut `value` to at most `limit` characters of JSON, as far as possible.

    Texts longer than the limit are cut first, then the largest list, then lists in what remains of
    it, and last the longest texts. A cut that `schema` or `accepts` forbids is not made.
    """
    length = size(value)
    if length <= limit:
        return Cut(value)
    texts = _Texts(value, schema, limit, accepts)
    longest = max(limit, MIN_TEXT_CHARACTERS)
    minimum = max(limit // _MIN_SHARE, MIN_TEXT_CHARACTERS)
    cut = texts.cut(Cut(value), length - limit, longer_than=longest, minimum=minimum)
    if cut.is_cut:
        length = size(cut.value)
    for _ in range(_MAX_ROUNDS):
        if length <= limit or (shorter := _cut_list(cut, length - limit, schema, accepts)) is None:
            break
        cut = shorter
        length = size(cut.value)
    if length > limit:
        minimum = MIN_TEXT_CHARACTERS
        cut = texts.cut(cut, length - limit, longer_than=minimum, minimum=minimum)
        length = size(cut.value)
    pieces = sorted(cut.pieces, key=lambda piece: piece.is_text)
    return replace(cut, pieces=tuple(pieces), fits=length <= limit)


def _cut_list(
    cut: Cut, excess: int, schema: Mapping[str, Any] | None, accepts: Accepts
) -> Cut | None:
    """Cut `excess` characters off the largest list that may be cut; return `None` if none may."""
    lists = sorted(_lists(cut.value, ()), key=lambda found: found[2][-1], reverse=True)
    for path, items, ends in lists[:_MAX_ROUNDS]:
        minimum = min(max(1, _min_items(schema, path)), len(items))
        # `ends[n]` is the size of the first n + 1 items with their commas.
        kept = max(bisect_right(ends, ends[-1] - excess), minimum)
        if kept == len(items):
            continue
        value = put(cut.value, path, items[:kept])
        if accepts(value):
            total = next((piece.total for piece in cut.pieces if piece.path == path), len(items))
            # Drop the pieces that lie within removed items.
            stay = [
                piece
                for piece in cut.pieces
                if piece.path != path and not _is_gone(piece, path, kept)
            ]
            return Cut(value, (*stay, Piece(path, kept, total)))
    return None


def _is_gone(piece: Piece, path: ValuePath, kept: int) -> bool:
    inner = piece.path[len(path) :]
    return piece.path[: len(path)] == path and bool(inner) and cast("int", inner[0]) >= kept


def _lists(value: Any, path: ValuePath) -> Iterator[tuple[ValuePath, list[Any], list[int]]]:
    """Yield every list with more than one item, outermost first, with cumulative sizes."""
    if len(path) >= _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, member in cast("Mapping[str, Any]", value).items():
            yield from _lists(member, (*path, key))
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        if len(items) > 1:
            yield path, items, list(accumulate(length + 1 for length in sizes(items)))
        else:
            for item in items:
                yield from _lists(item, (*path, 0))


def _min_items(schema: Mapping[str, Any] | None, path: ValuePath) -> int:
    counts = [part.get("minItems", 0) for part in subschemas(schema, path)]
    return max((int(count) for count in counts if isinstance(count, int | float)), default=0)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Cuts texts of one value; `whole` is the value before any cut."""

    whole: Any
    schema: Mapping[str, Any] | None
    limit: int
    accepts: Accepts

    def cut(self, cut: Cut, excess: int, *, longer_than: int, minimum: int) -> Cut:
        """Cut `excess` characters off the longest texts; each keeps `minimum` of its JSON."""
        weights = {
            path: size(text)
            for path, text in _texts(cut.value, longer_than)
            if _is_free(self.schema, path)
        }
        cap = max(level(list(weights.values()), excess), minimum)
        long = [path for path, weight in weights.items() if weight > cap]
        changed = self._shortened(cut, dict.fromkeys(long, cap))
        if changed.value is cut.value or self.accepts(changed.value):
            return changed
        # `accepts` forbids to cut some of them, so try each alone, longest first.
        for path in sorted(long, key=weights.__getitem__, reverse=True)[:_MAX_TRIES]:
            excess = size(cut.value) - self.limit
            if excess <= 0:
                break
            alone = self._shortened(cut, {path: max(weights[path] - excess, minimum)})
            if self.accepts(alone.value):
                cut = alone
        return cut

    def _shortened(self, cut: Cut, rooms: Mapping[ValuePath, int]) -> Cut:
        if not rooms:
            return cut
        pieces = {piece.path: piece for piece in cut.pieces}
        shorter: dict[ValuePath, str] = {}
        for path, room in rooms.items():
            # Cut the original text, even if it was cut before, so that the marker's count is right.
            whole = cast("str", at(self.whole, path))
            shorter[path] = clip(whole, room, size)
            kept = shorter[path].rindex(MARKER)
            pieces[path] = Piece(path, kept, len(whole), is_text=True)
        return Cut(_replaced(cut.value, (), shorter, _prefixes(shorter)), tuple(pieces.values()))


def level(weights: list[int], excess: int) -> int:
    """Return the level to which the largest `weights` must be cut to save `excess` in total.

    >>> level([10, 50, 90], 50)
    45
    """
    room = sum(weights) - excess
    for index, weight in enumerate(sorted(weights)):
        left = len(weights) - index
        if weight * left > room:
            return max(room // left, 0)
        room -= weight
    return max(weights, default=0)


def _texts(value: Any, longer_than: int) -> Iterator[tuple[ValuePath, str]]:
    waiting: list[tuple[ValuePath, Any]] = [((), value)]
    while waiting:
        path, part = waiting.pop()
        if isinstance(part, str):
            if len(part) > longer_than:
                yield path, part
        elif len(path) >= _MAX_DEPTH:
            continue
        elif isinstance(part, Mapping):
            members = cast("Mapping[str, Any]", part).items()
            waiting += [
                ((*path, key), inner) for key, inner in members if type(inner) not in _SHORT
            ]
        elif isinstance(part, list):
            items = cast("list[Any]", part)
            waiting += [((*path, index), items[index]) for index in _long(path, items, longer_than)]


def _long(path: ValuePath, items: list[Any], longer_than: int) -> Iterable[int]:
    """Return the indexes of items that may contain a longer text; in an inner list, of all."""
    if any(isinstance(step, int) for step in path):
        return range(len(items))
    return [index for index, length in enumerate(sizes(items)) if length > longer_than]


def _prefixes(paths: Iterable[ValuePath]) -> frozenset[ValuePath]:
    return frozenset(path[:depth] for path in paths for depth in range(len(path)))


def _replaced(
    value: Any, path: ValuePath, new: Mapping[ValuePath, Any], above: frozenset[ValuePath]
) -> Any:
    if path in new:
        return new[path]
    if path not in above:
        return value
    if isinstance(value, list):
        items = enumerate(cast("list[Any]", value))
        return [_replaced(item, (*path, index), new, above) for index, item in items]
    members = cast("Mapping[str, Any]", value).items()
    return {key: _replaced(member, (*path, key), new, above) for key, member in members}


def _is_free(schema: Mapping[str, Any] | None, path: ValuePath) -> bool:
    return all(_FIXED.isdisjoint(part) for part in subschemas(schema, path))


def at(value: Any, path: ValuePath) -> Any:
    """Return the value at `path`."""
    for step in path:
        value = value[step]
    return value


def put(value: Any, path: ValuePath, new: Any) -> Any:
    """Return a copy of `value` with `new` at `path`."""
    return _replaced(value, (), {path: new}, _prefixes([path]))
