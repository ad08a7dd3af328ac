"""Schemas and values that cost far more than they look."""

from typing import Any

LEAF = {
    "type": "object",
    "properties": {"field": {"type": "string"}, "op": {"enum": ["eq", "ne"]}, "value": {}},
    "required": ["field", "op", "value"],
}


def group(name: str) -> dict[str, Any]:
    items = {"type": "array", "items": {"$ref": "#/$defs/filter"}}
    return {"type": "object", "properties": {name: items}, "required": [name]}


FILTER: dict[str, Any] = {
    "type": "object",
    "properties": {"filter": {"$ref": "#/$defs/filter"}},
    "required": ["filter"],
    "$defs": {"filter": {"anyOf": [group("and"), group("or"), LEAF]}},
}
"""An ordinary search filter: conditions under `and` and `or`, as deep as one likes."""


def condition(op: str = "eq") -> dict[str, Any]:
    return {"field": "name", "op": op, "value": 1}


def nested(depth: int, op: str) -> dict[str, Any]:
    """A filter of which every level is both an `and` and an `or`."""
    found = condition(op)
    for _ in range(depth):
        found = {"and": [found], "or": [found]}
    return {"filter": found}


FITTING = {"filter": {"and": [{"or": [condition()] * 3}] * 7}}
"""About 1 KB that fits."""


def doubling(levels: int = 28) -> dict[str, Any]:
    """A schema of a few lines that looks at a value 2 ** levels times."""
    inner: dict[str, Any] = {
        f"level{at}": {"allOf": [{"$ref": f"#/$defs/level{at + 1}"}] * 2} for at in range(levels)
    }
    inner[f"level{levels}"] = {"type": "object"}
    return {"$ref": "#/$defs/level0", "$defs": inner}


def deep(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = [found]
    return found
