"""Parameters of a tool that are booleans."""

from collections.abc import Mapping
from typing import Any, cast


def is_switch(schema: object, name: str) -> bool:
    """Whether the schema of a tool's arguments has a boolean parameter of this name.

    >>> is_switch({"properties": {"dry_run": {"type": "boolean"}}}, "dry_run")
    True
    """
    return _object(_object(_object(schema).get("properties")).get(name)).get("type") == "boolean"


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
