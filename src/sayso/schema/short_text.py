"""A schema told again in few words: for a model that must write what fits it."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from sayso.schema.truncation import size

BRIEF: Final = 2_000
"""Characters that a schema may have by default when it is quoted in a sentence."""

_DEEPEST: Final = 32
_ONE: Final = frozenset(
    """
    additionalProperties contains contentSchema else if items not propertyNames then
    unevaluatedItems unevaluatedProperties
    """.split()
)
"""Keywords whose value is a schema; an older draft has a list of them under `items`."""

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

Tell = Callable[[str], str | None]
"""Says a text of a schema's author in another way, or not at all."""


def retold(schema: Mapping[str, Any], tell: Tell, *, depth: int = _DEEPEST) -> dict[str, Any]:
    """`schema` with its author's texts as `tell` says them, and without what is no keyword.

    Below `depth` levels everything fits: less is said, nothing that is not so.

    >>> retold({"type": "object", "title": "Id", "x-note": 1}, str.upper)
    {'type': 'object', 'title': 'ID'}
    """
    if depth < 0:
        return {}

    def inner(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return retold(cast("Mapping[str, Any]", value), tell, depth=depth - 1)

    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _KEPT:
            found[key] = value
        elif key in _TEXTS and isinstance(value, str) and (said := tell(value)) is not None:
            found[key] = said
        elif key in _NAMED and isinstance(value, Mapping):
            named = cast("Mapping[str, Any]", value)
            found[key] = {name: inner(named[name]) for name in named}
        elif key in _SOME and isinstance(value, list):
            found[key] = list(map(inner, cast("list[Any]", value)))
        elif key in _ONE and isinstance(value, Mapping | bool):
            found[key] = inner(value)
    return found


def brief(schema: Mapping[str, Any], *, limit: int = BRIEF) -> dict[str, Any]:
    """`schema` without its author's texts, as deep as `limit` characters have room for.

    >>> brief({"properties": {"id": {"type": "integer", "description": "Whose"}}})
    {'properties': {'id': {'type': 'integer'}}}
    """
    for depth in (_DEEPEST, 4, 3, 2, 1, 0):
        found = retold(schema, lambda _: None, depth=depth)
        if size(found) <= limit:
            return found
    return {"type": "object"}
