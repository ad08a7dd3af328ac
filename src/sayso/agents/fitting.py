"""Schemas of arguments in the form that every model takes."""

from collections.abc import Mapping
from typing import Any, Final, cast

_CHOICES: Final = ("allOf", "anyOf", "oneOf")
_UNFIT: Final = (*_CHOICES, "not", "if", "then", "else", "enum", "const")
"""What the large model APIs refuse at the top of a schema, and the whole request with it."""


def fit_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object, with nothing at its top that a model API refuses.

    What is left out there still holds: the guard checks arguments against the tool's own schema.
    The properties of its branches are kept, so that the model knows of them.

    >>> fit_schema({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]})
    {'type': 'object', 'properties': {'a': {}, 'b': {}}}
    """
    properties = dict(_object(schema.get("properties")))
    for choice in _CHOICES:
        branches = schema.get(choice)
        for branch in cast("list[Any]", branches) if isinstance(branches, list) else ():
            for name, inner in _object(_object(branch).get("properties")).items():
                properties.setdefault(name, inner)
    kept = {key: value for key, value in schema.items() if key not in _UNFIT}
    return {**kept, "type": "object", "properties": properties}


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
