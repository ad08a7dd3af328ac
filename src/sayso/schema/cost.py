"""Estimates of the cost of checking a value against a schema, in a bounded number of steps.

A schema that checks each part of a value a fixed number of times is *linear*: the cost is at most
its `schema_cost` times the `weight` of the value. Recursion, repeated `$ref`, backtracking patterns
and unknown keywords have no such bound.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from sayso.schema.subschema_walk import object_of, resolve_reference

MAX_COST: Final = 50_000
"""Schemas above this cost count as not linear."""

_MAX_NODES: Final = 20_000
_MAX_DEPTH: Final = 64
_MAX_VALUE_DEPTH: Final = 200
_CHARACTERS_PER_NODE: Final = 32
_MAX_PATTERN_COST: Final = 2_000
_SCALARS: Final = frozenset({bool, float, type(None)})
_UNIQUE_COST: Final = 8
_WHOLE_MULTIPLE_COST: Final = 20
_FRACTION_MULTIPLE_COST: Final = 200  # `jsonschema_rs` divides fractions with numbers of any length

_DRAFTS: Final = re.compile(
    r"https?://json-schema\.org/(draft/20(19-09|20-12)|draft-0[467])/schema#?"
)
_UNBOUNDED: Final = frozenset(
    {
        *("$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef"),
        *("$vocabulary", "id", "unevaluatedItems", "unevaluatedProperties"),
    }
)
_ONE: Final = frozenset(
    {
        *("additionalItems", "additionalProperties", "contains", "else", "if", "items"),
        *("not", "propertyNames", "then"),
    }
)
_LISTS: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_NAMED: Final = frozenset({"dependencies", "dependentSchemas", "patternProperties", "properties"})
_DEFINITIONS: Final = frozenset({"$defs", "definitions"})

_BACKTRACKING: Final = re.compile(r"\(\?(?!i?:|i\))|[*+?}]\+|\\(?:[^\W_dDfnrsStuvwWx]|[<>])")
"""Patterns that `jsonschema_rs` matches by backtracking: lookaround, possessive repetition, and
escapes such as word boundaries; escaped signs and classes need no backtracking."""
_CLASS: Final = re.compile(r"\\[dDsSwW]")
_WIDE: Final = re.compile(r"(?<!\\)\.|\[\^|\\[DsSwW]|[^\x00-\x7f]")
"""Wide classes, which need many states in an automaton over bytes."""
_WIDE_STATES: Final = 16
_REPEATED: Final = re.compile(r"\{(\d*),?(\d*)\}")


def weight(value: Any, limit: int) -> int:
    """Return the number of parts of a JSON value, counting long texts by length.

    Stops soon after `limit`. A value nested deeper than 200 levels, or with a key that is not a
    string, weighs more than `limit`.

    >>> weight({"ids": [1, 2]}, 100)
    5
    """
    total = 0
    level: list[Any] = [value]
    for _ in range(_MAX_VALUE_DEPTH):
        following: list[Any] = []
        total += len(level)
        for part in level:
            # Most values have exactly these types, and comparing types is faster than `isinstance`.
            kind = cast("type[object]", type(part))
            if kind is str:
                total += len(part) // _CHARACTERS_PER_NODE
            elif kind is int:
                # An integer weighs the square of its length, since parsing it takes quadratic time.
                total += (part.bit_length() // (8 * _CHARACTERS_PER_NODE)) ** 2
            elif kind is list or kind is tuple:
                if total + len(following) + len(part) > limit:
                    return total + len(following) + len(part)
                following += part
            elif kind not in _SCALARS and (kind is dict or _is_mapping(part)):
                total += len(part)
                if total + len(following) > limit:
                    return total + len(following) + len(part)
                total += _key_weight(part, limit)
                following += part.values()
        if not following or total > limit:
            return total
        level = following
    return limit + 1


def _is_mapping(part: Any) -> bool:
    return isinstance(part, Mapping)


def _key_weight(entries: Mapping[str, Any], limit: int) -> int:
    try:
        return sum(map(len, entries)) // _CHARACTERS_PER_NODE
    except TypeError:
        return limit + 1


def schema_cost(schema: Mapping[str, Any] | bool) -> int | None:  # noqa: FBT001 - a schema may be a boolean
    """Return how often a linear schema checks each part of a value, or `None` if not linear.

    >>> schema_cost({"properties": {"id": {"type": "integer"}}})
    3
    >>> schema_cost({"items": {"$ref": "#"}})
    """
    if isinstance(schema, bool):
        return 1
    if weight(schema, _MAX_NODES) > _MAX_NODES:
        return None
    try:
        return _Estimate(schema).cost(schema, 0)
    except _UnboundedError:
        return None


class _UnboundedError(Exception):
    """The schema has no known bound."""


class _Estimate:
    """The costs of the parts of one schema, each computed once."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._costs: dict[int, int] = {}
        self._unfinished: set[int] = set()

    def cost(self, schema: Any, depth: int) -> int:
        if not isinstance(schema, Mapping):
            return 1
        part = cast("Mapping[str, Any]", schema)
        if id(part) in self._unfinished or depth > _MAX_DEPTH:
            raise _UnboundedError
        if id(part) not in self._costs:
            self._unfinished.add(id(part))
            total = 1 + sum(self._keyword(key, part[key], depth + 1) for key in part)
            if total > MAX_COST:
                raise _UnboundedError
            self._unfinished.discard(id(part))
            self._costs[id(part)] = total
        return self._costs[id(part)]

    def _keyword(self, key: str, value: Any, depth: int) -> int:
        if key in _UNBOUNDED:
            raise _UnboundedError
        if key in _DEFINITIONS:
            return 0
        if key in _COSTS:
            return _COSTS[key](value)
        if key == "$ref":
            return self.cost(self._target(value), depth)
        if key in _ONE or key in _LISTS or key in _NAMED:
            total = sum(self.cost(inner, depth) for inner in _inner(key, value))
            if key == "patternProperties":
                total += sum(map(_pattern_cost, object_of(value)))
            return total
        return 1 + weight(value, MAX_COST) // 4

    def _target(self, reference: Any) -> Any:
        is_pointer = isinstance(reference, str) and re.fullmatch(r"#(/[^%]*)?", reference)
        target = resolve_reference(self._root, reference) if is_pointer else None
        if target is None:
            raise _UnboundedError
        return target


def _inner(key: str, value: Any) -> Iterator[Any]:
    if key in _NAMED:
        yield from object_of(value).values()
    elif key in _LISTS and isinstance(value, list):
        yield from cast("list[Any]", value)
    elif key in _ONE:
        yield value


def _require(is_known: bool) -> int:  # noqa: FBT001 - its only argument
    if not is_known:
        raise _UnboundedError
    return 1


def _pattern_cost(pattern: Any) -> int:
    """Estimate the states of a regular expression; raise if it may backtrack."""
    if not isinstance(pattern, str):
        return 1
    if len(pattern) > _MAX_PATTERN_COST or _BACKTRACKING.search(pattern):
        raise _UnboundedError
    # `jsonschema_rs` rewrites each class in a pass over the whole pattern.
    states = len(pattern) + len(_CLASS.findall(pattern)) ** 2
    states += _WIDE_STATES * len(_WIDE.findall(pattern))
    for low, high in _REPEATED.findall(pattern):
        states *= max(int(low or 1), int(high or 1), 1)
        if states > _MAX_PATTERN_COST:
            raise _UnboundedError
    if states > _MAX_PATTERN_COST:
        raise _UnboundedError
    return 1 + states // 2


def _multiple_cost(value: Any) -> int:
    return _WHOLE_MULTIPLE_COST if isinstance(value, int) else _FRACTION_MULTIPLE_COST


_COSTS: Final[Mapping[str, Callable[[Any], int]]] = {
    "$schema": lambda value: _require(isinstance(value, str) and bool(_DRAFTS.fullmatch(value))),
    "format": lambda value: _require(value != "regex"),
    "multipleOf": _multiple_cost,
    "pattern": _pattern_cost,
    "uniqueItems": lambda _: _UNIQUE_COST,
}
"""The costs of keywords that contain no schemas."""
