"""Flat schemas: references are resolved and `allOf` is merged.

Keywords that cannot be merged stay under `allOf`; every value is later checked against the whole
schema. The keywords of 2020-12 and of draft-07 are both read, whatever the `$schema`.
"""

from collections.abc import Callable, Iterator, Mapping
from math import lcm
from typing import Any, Final, TypeGuard
from urllib.parse import unquote

Schema = dict[str, Any]
"""A schema that is an object. The empty object accepts anything."""

_DEEPEST: Final = 40
_MOST_NODES: Final = 20_000


class Flattener:
    """Flattens the schemas of one document. `#` is the document's root."""

    def __init__(self, root: Mapping[str, Any] | bool) -> None:  # noqa: FBT001 - a schema may be a boolean
        self.root = root
        self._named: dict[str, Any] | None = None

    def flat(self, node: object) -> Schema | None:
        """Return a flat schema, or `None` if no value can fit."""
        return self._flat(node, ())

    def find(self, reference: str) -> object:
        """Return the target of a `$ref`, or for an unknown one `True`, which accepts anything."""
        if self._named is None:
            self._named = dict(_names(self.root, 0, [_MOST_NODES]))
        if reference in self._named:
            return self._named[reference]
        if not reference.startswith("#"):
            return True
        found: Any = self.root
        for part in reference[1:].split("/")[1:]:
            found = _step(found, unquote(part).replace("~1", "/").replace("~0", "~"))
        return found

    def _flat(self, node: object, followed: tuple[str, ...]) -> Schema | None:
        if isinstance(node, bool):
            return {} if node else None
        if not is_table(node):
            return {}
        schema = dict(node)
        parts: list[object] = []
        for key in ("$ref", "$dynamicRef"):
            reference = schema.pop(key, None)
            if isinstance(reference, str) and reference not in followed:
                if len(followed) >= _DEEPEST:
                    return None
                followed = (*followed, reference)
                parts.append(self.find(reference))
        parts += items_of(schema.pop("allOf", None))
        found = _own(schema)
        for part in parts:
            flat = self._flat(part, followed)
            if found is None or flat is None:
                return None
            found = merge(found, flat)
        return found


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Return whether a JSON value is an array."""
    return isinstance(value, list)


def is_table(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a JSON value is an object."""
    return isinstance(value, Mapping)


def items_of(value: object) -> list[Any]:
    """Return the value if it is a list, else an empty list."""
    return value if is_list(value) else []


def table_of(value: object) -> Mapping[str, Any]:
    """Return the value if it is an object, else an empty object."""
    return value if is_table(value) else {}


def types_of(schema: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the types that a schema names, or `None`.

    OpenAPI's keyword `nullable` has no meaning in JSON Schema and is ignored.
    """
    types = schema.get("type")
    if isinstance(types, str):
        return (types,)
    return tuple(map(str, types)) if is_list(types) else None


def merge(first: Schema, other: Schema) -> Schema | None:
    """Return a schema for the values that both schemas accept, or `None` if no value can fit."""
    found = dict(first)
    for key, value in other.items():
        if key not in found:
            found[key] = value
        elif found[key] != value:
            if key in _JOINS:
                found[key] = _JOINS[key](found[key], value)
                if found[key] is None:
                    return None
            elif key not in _NOTES:
                found["allOf"] = [*items_of(found.get("allOf")), {key: value}]
    _keep_closed(found, first, other)
    return _own(found)


def _own(schema: Schema) -> Schema | None:
    """Turn `const` into `enum` and `if` into `anyOf`; return `None` if no value can fit."""
    if "const" in schema:
        const = schema.pop("const")
        if "enum" in schema and const not in items_of(schema["enum"]):
            return None
        schema["enum"] = [const]
    if "if" in schema and "anyOf" not in schema:
        condition = schema.pop("if")
        then = schema.pop("then", True)
        otherwise = schema.pop("else", True)
        schema["anyOf"] = [
            {"allOf": [condition, then]},
            {"allOf": [{"not": condition}, otherwise]},
        ]
    return schema


def _keep_closed(found: Schema, first: Schema, other: Schema) -> None:
    for open_side, closed in ((first, other), (other, first)):
        if closed.get("additionalProperties") is not False or "patternProperties" in closed:
            continue
        named = table_of(closed.get("properties"))
        extra = [key for key in table_of(open_side.get("properties")) if key not in named]
        found["properties"] = {**table_of(found.get("properties")), **dict.fromkeys(extra, False)}


def _types(first: Any, other: Any) -> Any:
    first = types_of({"type": first}) or ()
    second = types_of({"type": other}) or ()
    kept = [name for name in first if name in second]
    if ("integer" in first) != ("integer" in second) and "number" in (*first, *second):
        kept.append("integer")
    return kept or None


def _enums(first: Any, other: Any) -> Any:
    return [value for value in items_of(first) if value in items_of(other)] or None


def _both(first: Any, other: Any) -> Any:
    return {"allOf": [first, other]}


def _tables(first: Any, other: Any) -> Any:
    first = table_of(first)
    second = table_of(other)
    shared = {key: _both(first[key], second[key]) for key in first if key in second}
    return {**first, **second, **shared}


def _lists(first: Any, other: Any) -> Any:
    return list(dict.fromkeys([*items_of(first), *items_of(other)]))


def _multiples(first: Any, other: Any) -> Any:
    if isinstance(first, int) and isinstance(other, int) and first > 0 and other > 0:
        return lcm(first, other)
    return max(first, other)


def _either(first: Any, other: Any) -> Any:
    return {"anyOf": [first, other]}


_JOINS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "type": _types,
    "enum": _enums,
    "properties": _tables,
    "patternProperties": _tables,
    "$defs": _tables,
    "definitions": _tables,
    "required": _lists,
    "items": _both,
    "additionalProperties": _both,
    "propertyNames": _both,
    "not": _either,
    "multipleOf": _multiples,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
    "uniqueItems": lambda first, other: bool(first or other),
}
_NOTES: Final = frozenset(
    ["title", "description", "default", "examples", "example", "$schema", "$id", "$comment"]
)
"""Keywords that do not restrict values. The outer schema's keyword is used."""


def _step(node: Any, part: str) -> Any:
    if is_list(node):
        if part.isdigit() and int(part) < len(node):
            return node[int(part)]
        return True
    return table_of(node).get(part, True)


def _names(node: Any, depth: int, left: list[int]) -> Iterator[tuple[str, Any]]:
    left[0] -= 1
    if depth > _DEEPEST or left[0] < 0:
        return
    if is_list(node):
        for item in node:
            yield from _names(item, depth + 1, left)
        return
    table = table_of(node)
    for key, start in (("$id", ""), ("$anchor", "#"), ("$dynamicAnchor", "#")):
        if isinstance(name := table.get(key), str):
            yield start + name, node
    for item in table.values():
        if isinstance(item, dict | list):
            yield from _names(item, depth + 1, left)
