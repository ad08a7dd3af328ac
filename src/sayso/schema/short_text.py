"""Short versions of schemas, for models and messages."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from sayso.schema.truncation import size

BRIEF: Final = 2_000
"""The default maximum length, in characters, of a schema inside a sentence."""

_MAX_DEPTH: Final = 32
_ONE: Final = frozenset(
    """
    additionalProperties contains contentSchema else if items not propertyNames then
    unevaluatedItems unevaluatedProperties
    """.split()
)
"""Keywords whose value is a schema; in older drafts `items` may be a list."""

_SOME: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_NAMED: Final = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)
_TEXTS: Final = frozenset({"description", "title"})
_KEPT: Final = frozenset(
    """
    $anchor $ref const default dependentRequired deprecated enum exclusiveMaximum
    exclusiveMinimum format maxContains maxItems maxLength maxProperties maximum minContains
    minItems minLength minProperties minimum multipleOf nullable pattern readOnly required type
    uniqueItems writeOnly
    """.split()
)

Rewrite = Callable[[str], str | None]
"""Takes a text from a schema, and returns its replacement, or `None` to remove it."""


def retold(
    schema: Mapping[str, Any], rewrite: Rewrite, *, depth: int = _MAX_DEPTH
) -> dict[str, Any]:
    """Return `schema` with texts rewritten by `rewrite`, and without unknown keywords.

    Subschemas below `depth` levels become `{}`, which allows everything. So the result is never
    stricter than `schema`.

    >>> retold({"type": "object", "title": "Id", "x-note": 1}, str.upper)
    {'type': 'object', 'title': 'ID'}
    """
    if depth < 0:
        return {}

    def inner(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return retold(cast("Mapping[str, Any]", value), rewrite, depth=depth - 1)

    short: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _KEPT:
            short[key] = value
        elif key in _TEXTS and isinstance(value, str) and (text := rewrite(value)) is not None:
            short[key] = text
        elif key in _NAMED and isinstance(value, Mapping):
            named = cast("Mapping[str, Any]", value)
            short[key] = {name: inner(named[name]) for name in named}
        elif key in _SOME and isinstance(value, list):
            short[key] = list(map(inner, cast("list[Any]", value)))
        elif key in _ONE and isinstance(value, Mapping | bool):
            short[key] = inner(value)
    return short


def brief(schema: Mapping[str, Any], *, limit: int = BRIEF) -> dict[str, Any]:
    """Return `schema` without texts, as deep as `limit` characters allow.

    >>> brief({"properties": {"id": {"type": "integer", "description": "Whose"}}})
    {'properties': {'id': {'type': 'integer'}}}
    """
    for depth in (_MAX_DEPTH, 4, 3, 2, 1, 0):
        short = retold(schema, lambda _: None, depth=depth)
        if size(short) <= limit:
            return short
    return {"type": "object"}
