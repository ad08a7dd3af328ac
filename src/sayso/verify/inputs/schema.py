"""Values for a JSON Schema, drawn by hypothesis strategies and then checked against it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from sayso.errors import UsageError
from sayso.schema import Checker
from sayso.verify.inputs.drawing import check_installed, draw
from sayso.verify.inputs.flattener import (
    Flattener,
    Schema,
    is_list,
    is_table,
    items_of,
    merge,
    table_of,
    types_of,
)
from sayso.verify.inputs.formats import text_of
from sayso.verify.inputs.numbers import integer_range, number_range
from sayso.verify.inputs.patterns import pattern_of

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
TYPES: Final = ("string", "integer", "number", "boolean", "array", "object", "null")
_LETTERS: Final = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:;/'\"\\<&äß漢🙂"
)
_DEEP: Final = 4
"""From this depth on, optional parts are left out."""
_DEEPEST: Final = 14
_MOST_PARTS: Final = 300
_MOST_OF_ALL: Final = 5_000
"""A schema with more parts, with references resolved, counts as endless."""
_LONGEST: Final = 40
_MANY: Final = 3
_OFTEN: Final = 8
_MOST_OF_KEY: Final[Mapping[str, int]] = {
    "minLength": 100_000,
    "minItems": 1_000,
    "minProperties": 1_000,
    "minContains": 1_000,
}
_MOST_NAMES: Final = 1_000
_MOST_NODES: Final = 100_000


def make_checker(schema: Mapping[str, Any] | bool) -> Checker:  # noqa: FBT001 - a schema may be a boolean
    """Return a checker for a schema: 2020-12, or draft-07 if that fails. Raises `UsageError`."""
    try:
        return Checker(schema)
    except UsageError:
        if isinstance(schema, bool) or "$schema" in schema:
            raise
        with suppress(UsageError):
            return Checker({"$schema": DRAFT_7, **schema})
        raise


def make_values(schema: Mapping[str, Any] | bool, *, seed: int, count: int) -> list[Any]:  # noqa: FBT001
    """Return at most `count` values that fit `schema`, simplest first.

    The same `seed` gives the same values. The list is empty if no value was found. Raises
    `UsageError` for an invalid schema.

    >>> make_values({"enum": ["a"]}, seed=1, count=3)
    ['a']
    """
    checker = make_checker(schema)
    check_installed()
    made = Strategies(Flattener(schema)).of(schema)
    if made is None:
        return []
    # The strategies do not cover every keyword of a schema, so drop the values that do not fit.
    drawn = draw(made.filter(checker.is_valid), count, seed=seed)
    kept: dict[str, Any] = {}
    for value in drawn:
        kept.setdefault(json.dumps(value, sort_keys=True), value)
    return list(kept.values())


class Strategies:
    """Makes the strategies for the schemas of one document."""

    def __init__(self, flattener: Flattener) -> None:
        self._flattener = flattener
        self._parts = 0

    def of(self, node: object, depth: int = 0) -> "SearchStrategy[Any] | None":
        """Return a strategy for a schema, or `None` if no finite value fits."""
        self._parts += 1
        schema = self._flattener.flat(node)
        if schema is None or depth > _DEEPEST or self._parts > _MOST_OF_ALL:
            return None
        found = self._whole(schema, depth)
        if found is not None and (check := self._check(schema)):
            return found.filter(check.is_valid)
        return found

    def _whole(self, schema: Schema, depth: int) -> "SearchStrategy[Any] | None":
        if "enum" in schema:
            return self._enum(schema)
        for key in ("anyOf", "oneOf"):
            if branches := items_of(schema.get(key)):
                rest = {name: value for name, value in schema.items() if name != key}
                return _one_of([self._branch(rest, branch, depth) for branch in branches])
        kinds = [kind for kind in types_of(schema) or _implied(schema) if kind in TYPES]
        return _one_of([self._type(kind, schema, depth) for kind in kinds])

    def _branch(self, rest: Schema, branch: object, depth: int) -> "SearchStrategy[Any] | None":
        flat = self._flattener.flat(branch)
        if flat is None or (both := merge(rest, flat)) is None:
            return None
        return self.of(both, depth + 1)

    def _enum(self, schema: Schema) -> "SearchStrategy[Any] | None":
        from hypothesis import strategies as st  # noqa: PLC0415 - an extra

        values = items_of(schema["enum"])
        rest = _alone({key: value for key, value in schema.items() if key != "enum"})
        fitting = [value for value in values if rest is None or rest.is_valid(value)]
        if not fitting:
            return None
        return st.sampled_from(fitting)

    def _type(self, kind: str, schema: Schema, depth: int) -> "SearchStrategy[Any] | None":
        from hypothesis import strategies as st  # noqa: PLC0415 - an extra

        match kind:
            case "null":
                return st.none()
            case "boolean":
                return st.booleans()
            case "integer":
                found = integer_range(schema)
                return found and found.strategy()
            case "number":
                return number_range(schema)
            case "string":
                return _text(schema)
            case "array":
                return self._array(schema, depth)
            case _:
                return self._object(schema, depth)

    def _array(self, schema: Schema, depth: int) -> "SearchStrategy[Any] | None":
        from hypothesis import strategies as st  # noqa: PLC0415 - an extra

        given = schema.get("items", True)
        first = items_of(schema.get("prefixItems")) or items_of(given)
        rest: Any = given
        if isinstance(given, list):
            rest = schema.get("additionalItems", True)
        minimum = int(schema.get("minItems", "contains" in schema))
        usual = 0 if self._is_tight(depth) else _MANY
        maximum = int(schema.get("maxItems", minimum + usual))
        if minimum > maximum:
            return None
        heads = [self.of(head, depth + 1) for head in first[:maximum]]
        known = [head for head in heads if head is not None]
        if len(known) < len(heads):
            return None
        contained = self.of({"allOf": [rest, schema.get("contains", True)]}, depth + 1)
        free = maximum - len(known)
        if contained is None:
            if minimum > len(known):
                return None
            return st.tuples(*known).map(list)
        is_unique = schema.get("uniqueItems") is True
        tail = st.lists(
            contained,
            min_size=max(0, minimum - len(known)),
            max_size=max(0, free),
            unique_by=_key if is_unique else None,
        )
        if not known:
            return tail
        return st.tuples(st.tuples(*known), tail).map(lambda two: [*two[0], *two[1]])

    def _object(self, schema: Schema, depth: int) -> "SearchStrategy[Any] | None":
        from hypothesis import strategies as st  # noqa: PLC0415 - an extra

        properties = table_of(schema.get("properties"))
        required = _required(schema)
        must = {name: self.of(properties.get(name, True), depth + 1) for name in required}
        if any(part is None for part in must.values()):
            return None
        may: dict[str, SearchStrategy[Any]] = {}
        if not self._is_tight(depth):
            for name, node in properties.items():
                if name not in must and (part := self.of(node, depth + 1)) is not None:
                    may[name] = part
        sure = {name: part for name, part in must.items() if part is not None}
        fixed = st.fixed_dictionaries(sure, optional=may)
        maximum = schema.get("maxProperties")
        if isinstance(maximum, int):
            fixed = fixed.map(lambda found: _cut(found, maximum, required))
        extra = self._extra(schema, depth, known=len(sure))
        if extra is None:
            return fixed
        return st.tuples(extra, fixed).map(lambda two: {**two[0], **two[1]})

    def _extra(
        self, schema: Schema, depth: int, *, known: int
    ) -> "SearchStrategy[dict[str, Any]] | None":
        """Return a strategy for a few extra properties, or `None` if the schema describes none."""
        from hypothesis import strategies as st  # noqa: PLC0415 - an extra

        minimum = max(0, int(schema.get("minProperties", 0)) - known)
        names = self.of({"type": "string", **table_of(schema.get("propertyNames"))}, depth + 1)
        others = schema.get("additionalProperties", True)
        maximum = minimum if self._is_tight(depth) else max(minimum, 2)
        parts: list[SearchStrategy[dict[str, Any]]] = []
        for pattern, node in table_of(schema.get("patternProperties")).items():
            keys = pattern_of(pattern, 0, _LONGEST)
            value = self.of(node, depth + 1)
            if keys is not None and value is not None:
                parts.append(st.dictionaries(keys, value, max_size=maximum))
        if is_table(others) or (others is True and minimum):
            value = self.of(others, depth + 1)
            if names is not None and value is not None:
                keys = names
                if "propertyNames" not in schema:
                    keys = st.text("abcdefghij", min_size=1, max_size=_OFTEN)
                parts.append(st.dictionaries(keys, value, min_size=minimum, max_size=maximum))
        if not parts:
            return None
        return st.tuples(*parts).map(lambda all_: {k: v for part in all_ for k, v in part.items()})

    def _is_tight(self, depth: int) -> bool:
        return depth >= _DEEP or self._parts > _MOST_PARTS

    def _check(self, schema: Schema) -> Checker | None:
        sifted = {key: schema[key] for key in _SIFTED if key in schema}
        if not sifted:
            return None
        root = table_of(self._flattener.root)
        defined = {key: root[key] for key in ("$defs", "definitions") if key in root}
        return _alone({**sifted, **defined})


_SIFTED: Final = (
    *("not", "allOf", "oneOf"),
    *("contains", "minContains", "maxContains", "minProperties"),
)


def _alone(schema: Mapping[str, Any]) -> Checker | None:
    """Return a checker for a part of a schema, or `None` if the part refers to the rest."""
    try:
        return Checker({key: value for key, value in schema.items() if key != "$schema"})
    except UsageError:
        return None


def _one_of(found: "list[SearchStrategy[Any] | None]") -> "SearchStrategy[Any] | None":
    from hypothesis import strategies as st  # noqa: PLC0415 - an extra

    known = [item for item in found if item is not None]
    if not known:
        return None
    return st.one_of(known)


def _text(schema: Schema) -> "SearchStrategy[str] | None":
    from hypothesis import strategies as st  # noqa: PLC0415 - an extra

    minimum = int(schema.get("minLength", 0))
    maximum = int(schema.get("maxLength", max(_LONGEST, minimum)))
    if minimum > maximum:
        return None
    if isinstance(pattern := schema.get("pattern"), str):
        return pattern_of(pattern, minimum, maximum)
    formatted = text_of(str(schema.get("format", "")))
    if formatted is not None:
        return formatted.filter(lambda text: minimum <= len(text) <= maximum)
    return st.text(_LETTERS, min_size=minimum, max_size=min(maximum, minimum + _LONGEST))


def _implied(schema: Schema) -> list[str]:
    found = [kind for kind, keys in _ABOUT.items() if any(key in schema for key in keys)]
    return found or ["string", "integer", "boolean", "null"]


_ABOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "object": ("properties", "required", "additionalProperties", "patternProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "contains"),
    "string": ("pattern", "format", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}


def _required(schema: Schema) -> list[str]:
    found = [str(name) for name in items_of(schema.get("required"))]
    brought = {**table_of(schema.get("dependencies")), **table_of(schema.get("dependentRequired"))}
    for name in found:
        found += [key for key in items_of(brought.get(name)) if key not in found]
    return found


def _cut(found: dict[str, Any], maximum: int, required: list[str]) -> dict[str, Any]:
    optional = [name for name in found if name not in required]
    kept = {*required, *optional[: max(0, maximum - len(required))]}
    return {name: value for name, value in found.items() if name in kept}


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def excess_of(schema: object) -> str:
    """Return the reason why a schema is too large, or "" if it is not.

    >>> excess_of({"properties": {"a": {"type": "string", "minLength": 2_000_000_000}}})
    'minLength is 2000000000'
    """
    for number, node in enumerate(_nodes(schema)):
        if number > _MOST_NODES:
            return f"more than {_MOST_NODES} parts"
        for key, maximum in _MOST_OF_KEY.items():
            minimum = node.get(key)
            if isinstance(minimum, int | float) and minimum > maximum:
                return f"{key} is {minimum}"
        names = node.get("required")
        if is_list(names) and len(names) > _MOST_NAMES:
            return f"{len(names)} properties are required"
    return ""


def _nodes(schema: object) -> Iterator[Mapping[str, Any]]:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if is_table(node):
            yield node
            waiting += node.values()
        elif is_list(node):
            waiting += [item for item in node if is_table(item) or is_list(item)]
