"""The parts of a JSON Schema that apply to one place in a value."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

Schema = Mapping[str, Any]

_SAME_PLACE: Final = ("allOf", "anyOf", "oneOf")
_SAME_PLACE_ONE: Final = ("if", "then", "else")
_ANY_ITEM: Final = ("additionalItems", "contains", "unevaluatedItems")
_ANY_MEMBER: Final = ("additionalProperties", "unevaluatedProperties")


def subschemas(root: Schema | None, path: Sequence[str | int]) -> list[Schema]:
    """Return every part of the schema `root` that may say something of the value at `path`.

    All branches of `anyOf`, `oneOf` and `if` are returned, whichever of them the value fits, so
    what none of the parts forbids is not forbidden. A `$ref` to another document is skipped.

    >>> subschemas({"properties": {"id": {"type": "integer"}}}, ["id"])
    [{'type': 'integer'}]
    """
    if root is None:
        return []
    parts = _parts(root, [root])
    for step in path:
        inner: list[Any] = []
        for part in parts:
            inner += _items(part, step) if isinstance(step, int) else _members(part, step)
        parts = _parts(root, inner)
    return parts


def _parts(root: Schema, schemas: Iterable[Any]) -> list[Schema]:
    """Return the schemas and everything in them that applies to the same place, each once."""
    parts: dict[int, Schema] = {}
    waiting = list(schemas)
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, Mapping) or id(cast("Schema", schema)) in parts:
            continue
        part = cast("Schema", schema)
        parts[id(part)] = part
        waiting += [_target(root, part.get("$ref")), _target(root, part.get("$dynamicRef"))]
        waiting += [part.get(key) for key in _SAME_PLACE_ONE]
        for key in _SAME_PLACE:
            branches = part.get(key)
            waiting += cast("list[Any]", branches) if isinstance(branches, list) else []
        for key in ("dependentSchemas", "dependencies"):
            dependent = part.get(key)
            if isinstance(dependent, Mapping):
                waiting += cast("Schema", dependent).values()
    return list(parts.values())


def _members(part: Schema, name: str) -> Iterator[Any]:
    properties = part.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        yield cast("Schema", properties)[name]
    patterns = part.get("patternProperties")
    if isinstance(patterns, Mapping):
        for pattern, schema in cast("Schema", patterns).items():
            if _matches(pattern, name):
                yield schema
    for key in _ANY_MEMBER:
        yield part.get(key)


def _items(part: Schema, index: int) -> Iterator[Any]:
    for key in ("prefixItems", "items"):
        schemas = part.get(key)
        if not isinstance(schemas, list):
            yield schemas
        elif index < len(cast("list[Any]", schemas)):
            yield schemas[index]
    for key in _ANY_ITEM:
        yield part.get(key)


def _matches(pattern: str, name: str) -> bool:
    """Return whether a property's name may fit a pattern; one that Python cannot read may."""
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return True


def _target(root: Schema, reference: Any) -> Any:
    """Return what a `$ref` within the document points to (RFC 6901)."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    target: Any = root
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        target = cast("Schema", target).get(name) if isinstance(target, Mapping) else None
    return target
