"""Removal of fields that a schema does not name, and schemas that need none removed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from sayso.schema.subschema_walk import resolve_reference
from sayso.schema.validate import Checker

Schema = Mapping[str, Any]

_MAX_DEPTH: Final = 64
"""The maximum nesting of references and combinations."""
_WORDS: Final = """
    $schema $id $ref title description default examples deprecated readOnly writeOnly
    type enum const format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
    minLength maxLength pattern minItems maxItems uniqueItems minProperties maxProperties required
"""
_ASIDE: Final = frozenset(_WORDS.split())
"""Keywords that do not affect additional properties."""


class Stripper:
    """Removes what one schema does not name. The caller must check that the schema is valid.

    An object keeps properties that are named or match a pattern, and others only if
    `additionalProperties` explicitly allows them. If the schema names no property, all are kept.
    Of `anyOf`, `oneOf` and `if`, only the parts that the value matches apply.

    >>> Stripper({"properties": {"id": {}}}).strip({"id": 1, "password": "x"})
    {'id': 1}
    """

    def __init__(self, schema: Schema) -> None:
        self._root = schema
        self._definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
        self._checkers: dict[int, Checker] = {}

    def strip(self, value: Any) -> Any:
        return self._strip(value, [self._root])

    def _strip(self, value: Any, schemas: Sequence[Any]) -> Any:
        parts = [part for schema in schemas for part in self._parts(schema, value, 0)]
        if isinstance(value, Mapping):
            return self._object(cast("Mapping[str, Any]", value), parts)
        if isinstance(value, list):
            return self._array(cast("list[Any]", value), parts)
        return value

    def _object(self, value: Mapping[str, Any], parts: list[Schema]) -> Mapping[str, Any]:
        kept: dict[str, Any] = {}
        names_some = any("properties" in part or "patternProperties" in part for part in parts)
        for key, member in value.items():
            schemas = [inner for part in parts for inner in _schemas_of(key, part)]
            if schemas or not names_some:
                kept[key] = self._strip(member, schemas)
        if len(kept) == len(value) and all(kept[key] is value[key] for key in kept):
            return value
        return kept

    def _array(self, value: list[Any], parts: list[Schema]) -> list[Any]:
        kept = [self._strip(item, _schemas_at(index, parts)) for index, item in enumerate(value)]
        if all(new is old for new, old in zip(kept, value, strict=True)):
            return value
        return kept

    def _parts(self, schema: Any, value: Any, depth: int) -> Iterator[Schema]:
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
            return
        whole = cast("Schema", schema)
        yield whole
        target = resolve_reference(self._root, whole.get("$ref"))
        for inner in (target, *whole.get("allOf", ()), *self._fitting(whole, value)):
            yield from self._parts(inner, value, depth + 1)

    def _fitting(self, schema: Schema, value: Any) -> Iterator[Any]:
        branches: list[Any] = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        yield from (branch for branch in branches if self._fits(value, branch))
        if "if" in schema and self._fits(value, schema["if"]):
            yield from (schema["if"], schema.get("then"))
        elif "if" in schema:
            yield schema.get("else")

    def _fits(self, value: Any, schema: Any) -> bool:
        if not isinstance(schema, Mapping):
            return bool(schema)
        branch = cast("Schema", schema)
        if (checker := self._checkers.get(id(branch))) is None:
            checker = self._checkers[id(branch)] = Checker({**self._definitions, **branch})
        return checker.is_valid(value)


def _schemas_of(key: str, part: Schema) -> list[Any]:
    """Return the schemas that one part has for a property."""
    named = part.get("properties", {})
    patterns = part.get("patternProperties", {})
    found: list[Any] = [named[key]] if key in named else []
    found += [inner for pattern, inner in patterns.items() if re.search(pattern, key)]
    extra = part.get("additionalProperties", part.get("unevaluatedProperties"))
    if not found and (extra or isinstance(extra, Mapping)):
        found.append(extra)
    return found


def _schemas_at(index: int, parts: list[Schema]) -> list[Any]:
    found: list[Any] = []
    for part in parts:
        prefix = part.get("prefixItems", ())
        found.append(prefix[index] if index < len(prefix) else part.get("items"))
    return found


def exact(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return `schema` so that each object that names properties forbids others, or `None`.

    A value that matches the result matches `schema` too and needs no stripping. The result is
    `None` for keywords that could invert this (`not`, `oneOf`, `if`) or combine objects (`allOf`).

    >>> exact({"type": "object", "properties": {"id": {"type": "integer"}}})["additionalProperties"]
    False
    """
    closed: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _ASIDE or key == "additionalProperties":
            closed[key] = value
            continue
        inner = _exact_inner(key, value)
        if inner is None:
            return None
        closed[key] = inner
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        inner = exact(cast("Mapping[str, Any]", extra))
        if inner is None:
            return None
        closed["additionalProperties"] = inner
    elif "properties" in schema and extra is not True:
        closed["additionalProperties"] = False
    return closed


def _exact_inner(key: str, value: Any) -> Any:
    if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        found: dict[str, Any] = {name: _exact_part(named[name]) for name in named}
        if None not in found.values():
            return found
    elif key in ("anyOf", "prefixItems") and isinstance(value, list):
        listed: list[Any] = list(map(_exact_part, cast("list[Any]", value)))
        if None not in listed:
            return listed
    elif key == "items":
        return _exact_part(value)
    return None


def _exact_part(value: Any) -> Any:
    if isinstance(value, Mapping):
        return exact(cast("Mapping[str, Any]", value))
    if isinstance(value, bool):
        return value
    return None
