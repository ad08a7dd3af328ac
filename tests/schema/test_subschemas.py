"""The parts of a schema that apply to one path in a value."""

from typing import Any

import pytest

from sayso.schema.subschema_walk import subschemas

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}


@pytest.mark.parametrize(
    ("schema", "path", "expected"),
    [
        ({"properties": {"a": TEXT, "b": NUMBER}}, ["a"], [TEXT]),
        ({"properties": {"b": NUMBER}, "additionalProperties": TEXT}, ["a"], [TEXT]),
        ({"properties": []}, ["a"], []),
        ({"patternProperties": {"^a": TEXT, "^b": NUMBER}}, ["a"], [TEXT]),
        ({"patternProperties": {"(": TEXT, "^b": NUMBER}}, ["a"], [TEXT]),
        ({"items": TEXT}, [5], [TEXT]),
        ({"items": [NUMBER, TEXT], "additionalItems": False}, [1], [TEXT]),
        ({"items": [NUMBER], "additionalItems": TEXT}, [1], [TEXT]),
        ({"prefixItems": [NUMBER, TEXT]}, [1], [TEXT]),
        ({"prefixItems": [NUMBER]}, [1], []),
        ({"contains": TEXT}, [0], [TEXT]),
        ({"dependentSchemas": {"b": {"properties": {"a": TEXT}}}}, ["a"], [TEXT]),
        ({"dependencies": {"b": {"properties": {"a": TEXT}}, "c": ["d"]}}, ["a"], [TEXT]),
        ({"$defs": {"a/b": TEXT}, "items": {"$ref": "#/$defs/a~1b"}}, [0, "x"], []),
        ({"$ref": "https://example.com/a", "properties": {"a": TEXT}}, ["a"], [TEXT]),
        ({"$ref": "#/items/0/none", "items": [TEXT]}, [0], [TEXT]),
        (None, ["a"], []),
    ],
)
def test_what_speaks_of_a_place_is_found(
    schema: dict[str, Any] | None, path: list[str | int], expected: list[dict[str, Any]]
) -> None:
    assert subschemas(schema, path) == expected


def test_every_branch_is_found_whichever_a_value_fits_and_recursion_ends() -> None:
    schema: dict[str, Any] = {
        "anyOf": [{"properties": {"a": TEXT}}, {"$ref": "#"}],
        "if": {"properties": {"a": NUMBER}},
        "then": {"$dynamicRef": "#/then"},
    }

    found = subschemas(schema, ["a"])

    assert len(found) == 2
    assert TEXT in found
    assert NUMBER in found
