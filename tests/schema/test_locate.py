"""One place where a value breaks its schema, found along one path."""

from typing import Any

import pytest

from sayso.schema import Checker
from sayso.schema.location import locate

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


def told(schema: dict[str, Any], value: Any) -> str:
    assert not Checker(schema).is_valid(value)
    return str(locate(schema, value))


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        pytest.param({"type": "array"}, {}, "does not match the schema’s “type”", id="at the top"),
        pytest.param(
            {"properties": {"id": {"type": "integer"}, "note": {}}},
            {"other": 1, "note": 2, "id": "x"},
            "id: does not match the schema’s “type”",
            id="a member",
        ),
        pytest.param(
            {"items": PERSON},
            [{"name": "a"}, {"name": 5}],
            "[1].name: does not match the schema’s “type”",
            id="an item",
        ),
        pytest.param(
            {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
            ["x", "y"],
            "does not match the schema’s “items”",
            id="items that stand behind others",
        ),
        pytest.param(
            {"items": {"type": "integer"}, "maxItems": 1},
            [1, 2],
            "does not match the schema’s “maxItems”",
            id="a list of good items",
        ),
        pytest.param(
            {"properties": {}, "required": ["id"]},
            {"name": 1},
            "does not match the schema’s “required”",
            id="a member that is not there",
        ),
        pytest.param(
            {"$defs": {"a/b~c": PERSON}, "properties": {"who": {"$ref": "#/$defs/a~1b~0c"}}},
            {"who": {"name": 5}},
            "who.name: does not match the schema’s “type”",
            id="a definition",
        ),
        pytest.param(
            {"allOf": [True, {"minimum": 1}, {"maximum": 5}]},
            7,
            "does not match the schema’s “maximum”",
            id="one of all",
        ),
        pytest.param(
            {"allOf": [True, {"minimum": 1}], "multipleOf": 2},
            3,
            "does not match the schema’s “multipleOf”",
            id="beside all",
        ),
        pytest.param({"allOf": [False]}, 7, "does not match the schema’s “allOf”", id="nothing"),
        pytest.param(
            {"properties": {"a": True, "b": False}},
            {"a": 1, "b": 2},
            "does not match the schema’s “properties”",
            id="a member that may not be",
        ),
        pytest.param(
            {"additionalProperties": False, "properties": {"a": {}}},
            {"a": 1, "b": 2},
            "does not match the schema’s “additionalProperties”",
            id="keywords that count together",
        ),
        pytest.param(
            {"if": {"type": "integer"}, "then": {"minimum": 5}, "maximum": 9},
            1,
            "does not match the schema’s “if”",
            id="a condition",
        ),
    ],
)
def test_the_place_and_the_keyword_are_told(
    schema: dict[str, Any], value: Any, expected: str
) -> None:
    assert told(schema, value) == expected


@pytest.mark.parametrize("key", ["anyOf", "oneOf"])
def test_the_alternative_that_was_meant_is_looked_into(key: str) -> None:
    company = {"properties": {"vat": {"type": "string"}}, "required": ["vat"]}
    schema = {"$defs": {"person": PERSON}, key: [{"$ref": "#/$defs/person"}, company]}

    assert told(schema, {"vat": 5}) == "vat: does not match the schema’s “type”"
    assert told(schema, {"name": 5}) == "name: does not match the schema’s “type”"


@pytest.mark.parametrize(
    "value", [{"name": 5, "vat": 5}, {}, "x"], ids=["two", "none", "no object"]
)
def test_where_nobody_can_tell_what_was_meant_no_alternative_is_blamed(value: Any) -> None:
    company = {"properties": {"vat": {"type": "string"}}, "required": ["vat"], "type": "object"}

    assert told({"anyOf": [PERSON, company]}, value) == "does not match the schema’s “anyOf”"


def test_the_search_ends_in_a_value_that_is_nested_deeply() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}}
    schema = {"$defs": {"node": node}, "$ref": "#/$defs/node"}
    value: Any = "x"
    for _ in range(100):
        value = {"a": value}

    found = locate(schema, value)

    assert 10 <= found.path.count("a") < 100
    assert found.message == "does not match the schema’s “$ref”"


def test_a_part_that_means_nothing_by_itself_is_not_looked_into() -> None:
    schema: dict[str, Any] = {
        "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}}
    }

    assert told(schema, {"a": 1, "b": "x"}) == "does not match the schema’s “properties”"


def test_where_no_keyword_can_be_checked_by_itself_none_is_blamed() -> None:
    schema = {"properties": {"a": {"type": "integer"}}, "items": {"$ref": "#/properties/a"}}

    assert told(schema, ["x"]) == "does not match the schema"
