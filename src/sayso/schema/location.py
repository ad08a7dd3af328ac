"""The location of one mismatch between a value and its schema.

Listing all problems of nested alternatives can take exponential time. So `locate` follows one path.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from sayso.errors import UsageError
from sayso.schema.subschema_walk import list_of, object_of, resolve_reference
from sayso.schema.validate import Checker, Problem, path_text

Schema = Mapping[str, Any]

_MAX_STEPS: Final = 64
_MAX_PARTS: Final = 200
"""The number of properties or items to check."""

_TOGETHER: Final = {
    "additionalProperties": ("properties", "patternProperties"),
    "items": ("prefixItems",),
    "if": ("then", "else"),
    "contains": ("minContains", "maxContains"),
}
_MEANINGLESS_ALONE: Final = frozenset(
    {"$defs", "definitions", "then", "else", "minContains", "maxContains"}
)


def locate(schema: Schema, value: Any) -> Problem:
    """Return one path where `value` does not match `schema`, with the broken keywords.

    Calls `Checker.is_valid` for each property, item and keyword on the path.

    >>> str(locate({"properties": {"id": {"type": "integer"}}}, {"id": "x"}))
    'id: does not match the schema’s “type”'
    """
    return _Search(schema).problem(value)


class _Search:
    """A search for one mismatch, without backtracking."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}

    def problem(self, value: Any) -> Problem:
        schema: Schema = self._root
        path: list[str | int] = []
        for _ in range(_MAX_STEPS):
            following = self._next(schema, value)
            if following is None:
                break
            part, schema = following
            if part is not None:
                path.append(part)
                value = value[part]
        return Problem(path_text(path), self._message(schema, value))

    def _next(self, schema: Schema, value: Any) -> tuple[str | int | None, Schema] | None:
        """Return a property or item that does not match, or a narrower schema for the value."""
        target = object_of(resolve_reference(self._root, schema.get("$ref")))
        if target and not self._fits(target, value):
            return None, target
        for part, inner in _parts(schema, value):
            if not self._fits(inner, value[part]):
                return part, inner
        for inner in map(object_of, list_of(schema.get("allOf"))):
            if inner and not self._fits(inner, value):
                return None, inner
        alternatives = [*list_of(schema.get("anyOf")), *list_of(schema.get("oneOf"))]
        meant = [
            inner for inner in map(object_of, alternatives) if _is_meant(self._shape(inner), value)
        ]
        if len(meant) == 1 and not self._fits(meant[0], value):
            return None, meant[0]
        return None

    def _shape(self, schema: Schema) -> Schema:
        return object_of(resolve_reference(self._root, schema.get("$ref"))) or schema

    def _message(self, schema: Schema, value: Any) -> str:
        broken = [
            key
            for key in schema
            if key not in _MEANINGLESS_ALONE and not self._fits(_alone(schema, key), value)
        ]
        if not broken:
            return "does not match the schema"
        return f"does not match the schema’s {', '.join(f'“{key}”' for key in broken)}"

    def _fits(self, schema: Schema, value: Any) -> bool:
        """Return whether the value matches, or the schema cannot be checked by itself."""
        try:
            return Checker({**self._definitions, **schema}).is_valid(value)
        except UsageError:
            return True


def _parts(schema: Schema, value: Any) -> Iterator[tuple[str | int, Schema]]:
    if isinstance(value, Mapping):
        known = object_of(schema.get("properties"))
        for name in list(cast("Mapping[str, Any]", value))[:_MAX_PARTS]:
            if isinstance(known.get(name), Mapping):
                yield name, known[name]
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, Mapping) and "prefixItems" not in schema:
        for index in range(min(len(cast("list[Any]", value)), _MAX_PARTS)):
            yield index, cast("Schema", items)


def _is_meant(schema: Schema, value: Any) -> bool:
    """Return whether an object has all required properties of an alternative."""
    required = list_of(schema.get("required"))
    return bool(required) and isinstance(value, Mapping) and all(name in value for name in required)


def _alone(schema: Schema, key: str) -> dict[str, Any]:
    """Return the schema with one keyword and the keywords that it depends on."""
    kept = (key, *_TOGETHER.get(key, ()))
    return {keyword: schema[keyword] for keyword in kept if keyword in schema}
