"""The parts of a JSON Schema that apply to one path in a value."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

Schema = Mapping[str, Any]

_SAME_PLACE: Final = ("allOf", "anyOf", "oneOf")
_SAME_PLACE_ONE: Final = ("if", "then", "else")
_ANY_ITEM: Final = ("additionalItems", "contains", "unevaluatedItems")
_ANY_MEMBER: Final = ("additionalProperties", "unevaluatedProperties")


def subschemas(root: Schema | None, path: Sequence[str | int]) -> list[Schema]:
    """Return every part of the schema `root` that may apply to the value at `path`.

    All branches of `anyOf`, `oneOf` and `if` are included, so what no part forbids is allowed. The
    target of a `$ref` to another document is left out.

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
    parts: dict[int, Schema] = {}
    waiting = list(schemas)
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, Mapping) or id(cast("Schema", schema)) in parts:
            continue
        part = cast("Schema", schema)
        parts[id(part)] = part
        waiting += [resolve_reference(root, part.get(key)) for key in ("$ref", "$dynamicRef")]
        waiting += [part.get(key) for key in _SAME_PLACE_ONE]
        for key in _SAME_PLACE:
            waiting += list_of(part.get(key))
        for key in ("dependentSchemas", "dependencies"):
            waiting += object_of(part.get(key)).values()
    return list(parts.values())


def _members(part: Schema, name: str) -> Iterator[Any]:
    yield object_of(part.get("properties")).get(name)
    for pattern, schema in object_of(part.get("patternProperties")).items():
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
    """Return whether a name may match a pattern; true if Python cannot compile it."""
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return True


def resolve_reference(root: Schema, reference: object) -> Any:
    """Return the target of a `$ref` within the document `root` (RFC 6901), or `None`."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    target: Any = root
    for step in reference.split("/")[1:]:
        if not isinstance(target, Mapping):
            return None
        target = cast("Schema", target).get(step.replace("~1", "/").replace("~0", "~"))
    return target


def is_switch(schema: object, name: str) -> bool:
    """Return whether an input schema has a boolean parameter with this name.

    >>> is_switch({"properties": {"dry_run": {"type": "boolean"}}}, "dry_run")
    True
    """
    parameter = object_of(object_of(object_of(schema).get("properties")).get(name))
    return parameter.get("type") == "boolean"


def object_of(value: object) -> Schema:
    """Return `value` if it is a JSON object, else an empty one."""
    # Parsed JSON is a dict, and comparing the type is much faster than `isinstance`.
    is_object = type(value) is dict or isinstance(value, Mapping)
    return cast("Schema", value) if is_object else {}


def text_of(value: object) -> str:
    """Return `value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def list_of(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []
