"""Cutting a result to a limit of characters: items leave lists from their end, nothing else.

The value stays what its schema says: at least one item stays, or as many as `minItems` wants,
and what stands beside the list (a cursor, whether there is more) is kept.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, cast

from avow.schema.compact import write_json

LIMIT: Final = 25_000
"""Characters of serialised JSON that a result may have by default."""

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """What was cut: `value` with `kept` of `total` items in the list at `path`.

    `fits` tells whether it is within the limit now: a value whose size is not in a list is not
    made smaller.
    """

    value: Any
    path: Path = ()
    kept: int = 0
    total: int = 0
    fits: bool = True

    @property
    def is_cut(self) -> bool:
        """Whether items left."""
        return self.kept < self.total


def size(value: Any) -> int:
    """Characters of `value` as compact JSON."""
    return len(write_json(value))


def truncate(value: Any, schema: Mapping[str, Any] | None = None, *, limit: int = LIMIT) -> Cut:
    """Cut the list that weighs most until `value` has at most `limit` characters.

    O(n) in the size of `value`: each item is serialised once. `schema`, where given, says how
    many items must stay.
    """
    over = size(value) - limit
    if over <= 0:
        return Cut(value)
    heaviest = max(_lists(value, ()), key=lambda found: found[2][-1], default=None)
    if heaviest is None:
        return Cut(value, fits=False)
    path, items, ends = heaviest
    least = max(1, _least(schema, path))
    # `ends[n]` is the weight of the first n + 1 items, each with its comma.
    kept = max(bisect_right(ends, ends[-1] - over), min(least, len(items)))
    cut = _replace(value, path, items[:kept])
    return Cut(cut, path, kept, len(items), size(cut) <= limit)


def _lists(value: Any, path: Path) -> Iterator[tuple[Path, list[Any], list[int]]]:
    """Every list with more than one item, outermost first, with the running weight of its items."""
    if isinstance(value, Mapping):
        for key, one in cast("Mapping[str, Any]", value).items():
            yield from _lists(one, (*path, key))
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        if len(items) > 1:
            yield path, items, list(accumulate(size(one) + 1 for one in items))
        else:
            for index, one in enumerate(items):
                yield from _lists(one, (*path, index))


def _least(schema: Mapping[str, Any] | None, path: Path) -> int:
    found: Any = schema or {}
    for step in path:
        key = "items" if isinstance(step, int) else "properties"
        found = found.get(key, {}) if isinstance(found, Mapping) else {}  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
        if isinstance(step, str):
            found = found.get(step, {}) if isinstance(found, Mapping) else {}  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
    least = found.get("minItems", 0) if isinstance(found, Mapping) else 0  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
    return least if isinstance(least, int) else 0


def _replace(value: Any, path: Path, items: list[Any]) -> Any:
    if not path:
        return items
    step, *rest = path
    if isinstance(step, int):
        return [_replace(value[step], tuple(rest), items)]
    return {**value, step: _replace(value[step], tuple(rest), items)}
