"""References (`$ref`) within a schema: those that point to nothing, and those without an end.

Schemas are untrusted, so all work is bounded and nothing is fetched.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import unquote

JsonObject = Mapping[str, Any]

_MAX_PLACES: Final = 20_000
_MAX_TARGETS: Final = 200
_MAX_DEPTH: Final = 60
_DATA: Final = frozenset({"const", "default", "enum", "example", "examples"})
"""Keywords whose value is data, not a schema."""


def references(schema: object) -> Iterator[str]:
    """Yield every string `$ref` in a schema, in no particular order."""
    todo = [schema]
    for _ in range(_MAX_PLACES):
        if not todo:
            return
        part = todo.pop()
        if isinstance(part, Mapping):
            node = cast("JsonObject", part)
            if isinstance(reference := node.get("$ref"), str):
                yield reference
            todo += [inner for key, inner in node.items() if key not in _DATA]
        elif isinstance(part, list):
            todo += cast("list[object]", part)


def target(schema: object, reference: str) -> object | None:
    """Return the value at a JSON pointer in a schema (RFC 6901), or `None`."""
    value: object = schema
    for step in reference.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and name in value:
            value = cast("JsonObject", value)[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):  # pyright: ignore[reportUnknownArgumentType]
            value = cast("list[object]", value)[int(name)]
        else:
            return None
    return value


def never_ends(schema: object) -> bool:
    """Return whether no finite value matches, because a required part requires itself again.

    A tree whose branches may be empty or missing has finite values. In doubt, the result is false.
    """
    pointers = {
        reference
        for reference in references(schema)
        if reference == "#" or reference.startswith("#/")
    }
    if not pointers or len(pointers) > _MAX_TARGETS:
        return False
    targets = {pointer: target(schema, pointer) for pointer in pointers}
    ending: set[str] = set()
    while True:
        more = {
            pointer
            for pointer, found in targets.items()
            if pointer not in ending and _ends(found, targets, ending, 0)
        }
        if not more:
            return not _ends(schema, targets, ending, 0)
        ending |= more


def _ends(schema: object, targets: Mapping[str, object], ending: set[str], depth: int) -> bool:
    """Return whether a finite value may match, if finite values match the targets in `ending`."""
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return True
    node = cast("JsonObject", schema)
    reference = node.get("$ref")
    if (
        isinstance(reference, str)
        and targets.get(reference) is not None
        and reference not in ending
    ):
        return False
    for key in ("anyOf", "oneOf"):
        some = node.get(key)
        if isinstance(some, list) and some:
            branches = cast("list[object]", some)
            if not any(_ends(inner, targets, ending, depth + 1) for inner in branches):
                return False
    return all(_ends(inner, targets, ending, depth + 1) for inner in _needed(node))


def _needed(schema: JsonObject) -> Iterator[object]:
    """Yield the subschemas that apply to every matching value."""
    every = schema.get("allOf")
    if isinstance(every, list):
        yield from cast("list[object]", every)
    kind = schema.get("type", "object" if "properties" in schema else None)
    properties = schema.get("properties")
    required = schema.get("required")
    if kind == "object" and isinstance(properties, Mapping) and isinstance(required, list):
        named = cast("JsonObject", properties)
        names = [name for name in cast("list[object]", required) if isinstance(name, str)]
        yield from (named[name] for name in names if name in named)
    minimum = schema.get("minItems")
    if kind == "array" and isinstance(minimum, int) and minimum > 0:
        yield schema.get("items")
