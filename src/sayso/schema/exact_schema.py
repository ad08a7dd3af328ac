"""Exact schemas: a value that matches one needs no stripping."""

from collections.abc import Mapping
from typing import Any, Final, cast

_WORDS: Final = """
    $schema $id $ref title description default examples deprecated readOnly writeOnly
    type enum const format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
    minLength maxLength pattern minItems maxItems uniqueItems minProperties maxProperties required
"""
_ASIDE: Final = frozenset(_WORDS.split())
"""Keywords that do not affect additional properties."""


def exact(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return `schema` with every object that names properties closed to others, or `None`.

    The result only forbids more, so a matching value matches `schema` too and needs no stripping.
    `None` for keywords that could invert this (`not`, `oneOf`, `if`) or combine objects (`allOf`).

    >>> exact({"type": "object", "properties": {"id": {"type": "integer"}}})["additionalProperties"]
    False
    """
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _ASIDE or key == "additionalProperties":
            made[key] = value
            continue
        inner = _inner(key, value)
        if inner is None:
            return None
        made[key] = inner
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        inner = exact(cast("Mapping[str, Any]", extra))
        if inner is None:
            return None
        made["additionalProperties"] = inner
    elif "properties" in schema and extra is not True:
        made["additionalProperties"] = False
    return made


def _inner(key: str, value: Any) -> Any:
    if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        found: dict[str, Any] = {name: _schema(named[name]) for name in named}
        if None not in found.values():
            return found
    elif key in ("anyOf", "prefixItems") and isinstance(value, list):
        listed: list[Any] = list(map(_schema, cast("list[Any]", value)))
        if None not in listed:
            return listed
    elif key == "items":
        return _schema(value)
    return None


def _schema(value: Any) -> Any:
    if isinstance(value, Mapping):
        return exact(cast("Mapping[str, Any]", value))
    if isinstance(value, bool):
        return value
    return None
