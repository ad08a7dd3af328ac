"""A schema told again: short, true as far as it goes, and without what its author says."""

from typing import Any

from sayso.schema import brief, retold, size

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "title": "Order",
    "x-mcp-header": "Order",
    "properties": {
        "title": {"type": "string", "description": "What it is called.", "default": "none"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "pair": {"prefixItems": [{"type": "string", "title": "A"}, True]},
        "old": {"items": [{"title": "B"}, 7], "additionalProperties": False},
    },
    "$defs": {"line": {"properties": {"count": {"enum": [1, {"title": "kept"}]}}}},
    "required": ["title"],
    "additionalProperties": {"type": "string", "description": "More."},
}


def test_texts_are_told_anew_and_all_that_decides_stays() -> None:
    told = retold(SCHEMA, str.upper)

    assert told["title"] == "ORDER"
    assert told["properties"]["title"] == {
        "type": "string",
        "description": "WHAT IT IS CALLED.",
        "default": "none",
    }
    assert told["properties"]["lines"] == SCHEMA["properties"]["lines"]
    assert told["properties"]["pair"] == {"prefixItems": [{"type": "string", "title": "A"}, True]}
    assert told["properties"]["old"] == SCHEMA["properties"]["old"]
    assert told["$defs"] == SCHEMA["$defs"]
    assert told["required"] == ["title"]
    assert "x-mcp-header" not in told


def test_what_stands_where_no_schema_may_is_left_out() -> None:
    odd = {"properties": 7, "allOf": "x", "not": [], "title": 3, "description": None}

    assert retold(odd, str.upper) == {}


def test_a_brief_schema_has_no_texts() -> None:
    told = brief(SCHEMA)

    assert "title" not in told
    assert set(told["properties"]) == {"title", "lines", "pair", "old"}
    assert told["additionalProperties"] == {"type": "string"}


def test_a_brief_schema_is_as_deep_as_there_is_room_for() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        deep = {"properties": {"inner": deep}}

    assert size(brief(deep)) <= 2_000
    told = brief(SCHEMA, limit=250)
    assert size(told) <= 250
    assert told["properties"]["title"] == {} or "type" in told["properties"]["title"]
    assert brief({"required": ["x" * 3_000]}) == {"type": "object"}
