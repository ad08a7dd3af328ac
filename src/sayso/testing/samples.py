"""Arguments from the examples and defaults of a tool's schema."""

from collections.abc import Mapping
from typing import Any, cast

from sayso.schema import Checker


def sample(schema: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return required arguments from the schema's examples and defaults, or why there are none.

    >>> sample({"properties": {"id": {"examples": [12]}, "limit": {}}, "required": ["id"]})
    {'id': 12}
    >>> sample({"properties": {"id": {"type": "integer"}}, "required": ["id"]})
    'its schema has no example for id'
    """
    whole = _first(schema.get("examples"))
    if isinstance(whole, Mapping):
        return dict(cast("Mapping[str, Any]", whole))
    properties = cast("Mapping[str, Any]", schema.get("properties") or {})
    arguments: dict[str, Any] = {}
    for name in cast("list[str]", schema.get("required") or []):
        value = _value(properties.get(name))
        if value is None:
            return f"its schema has no example for {name}"
        arguments[name] = value[0]
    problems = Checker(schema).problems(arguments)
    if problems:
        return f"the examples of its schema are invalid: {problems[0]}"
    return arguments


def _value(schema: Any) -> tuple[Any] | None:
    given: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}  # pyright: ignore[reportUnknownVariableType] - JSON
    for key in ("examples", "enum"):
        first = _first(given.get(key))
        if first is not None:
            return (first,)
    for key in ("example", "default", "const"):
        if key in given:
            return (given[key],)
    return None


def _first(values: Any) -> Any:
    if isinstance(values, list) and values:
        return cast("list[Any]", values)[0]
    return None
