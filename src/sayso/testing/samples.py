"""Arguments for a call that nobody gave any for, as far as the tool's schema has examples."""

from collections.abc import Mapping
from typing import Any, cast

from sayso.schema import Checker


def sample(schema: Mapping[str, Any]) -> dict[str, Any] | str:
    """Arguments by the schema's own examples and defaults, or why there are none.

    What may be left out is left out.

    >>> sample({"properties": {"id": {"examples": [12]}, "limit": {}}, "required": ["id"]})
    {'id': 12}
    >>> sample({"properties": {"id": {"type": "integer"}}, "required": ["id"]})
    'its schema has no example for id'
    """
    whole = _first(schema.get("examples"))
    if isinstance(whole, Mapping):
        return dict(cast("Mapping[str, Any]", whole))
    properties = cast("Mapping[str, Any]", schema.get("properties") or {})
    found: dict[str, Any] = {}
    for name in cast("list[str]", schema.get("required") or []):
        value = _value(properties.get(name))
        if value is None:
            return f"its schema has no example for {name}"
        found[name] = value[0]
    problems = Checker(schema).problems(found)
    if problems:
        return f"its schema's own examples do not fit it: {problems[0]}"
    return found


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
