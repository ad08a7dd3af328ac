"""Upper bounds of a schema's cost, and schemas without one."""

from typing import Any

import pytest

from sayso.schema.cost import MAX_COST, schema_cost, weight


@pytest.mark.parametrize(
    ("schema", "cost"),
    [
        (True, 1),
        (False, 1),
        ({}, 1),
        ({"type": "string"}, 2),
        ({"properties": {"a": {}, "b": {"type": "string"}}}, 4),
        ({"items": [{}, {"minimum": 1}], "prefixItems": [{}, True]}, 6),
        ({"$defs": {"a": {"type": "string"}}, "items": {"$ref": "#/$defs/a"}}, 4),
        ({"$defs": {"a/b": {"minimum": 1}}, "not": {"$ref": "#/$defs/a~1b"}}, 4),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, 2),
        ({"uniqueItems": True}, 9),
        ({"format": "email"}, 2),
        ({"pattern": "a{10}b"}, 32),
        ({"pattern": r"\w-"}, 12),
        ({"pattern": r"(?i)[a-z]+\.é"}, 16),
        ({"patternProperties": {"^a": {"minimum": 1}, "^b": {}}}, 8),
        ({"multipleOf": 5}, 21),
        ({"multipleOf": 0.01}, 201),
        # What is no schema is refused by the checker, and costs nothing until then.
        ({"pattern": 5, "allOf": 5, "properties": [], "not": 5}, 3),
    ],
)
def test_the_cost_of_a_linear_schema_is_the_sum_of_its_parts(schema: Any, cost: int) -> None:
    assert schema_cost(schema) == cost


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"not": schema}
    return schema


def doubled(levels: int) -> dict[str, Any]:
    """A schema whose definitions use each other twice."""
    definitions: dict[str, Any] = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)
    }
    return {"$defs": {**definitions, f"d{levels}": {}}, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "https://example.com/a"},
        {"unevaluatedProperties": False},
        {"$schema": "https://example.com/schema"},
        {"$schema": 5},
        {"$ref": "https://example.com/a"},
        {"$ref": 5},
        {"$ref": "#anchor"},
        {"$ref": "#/%24defs/a", "$defs": {"a": {}}},
        {"$ref": "#/$defs/b", "$defs": {"a": {}}},
        {"$ref": "#/$defs/a/b", "$defs": {"a": 5}},
        {"items": {"$ref": "#"}},
        {"format": "regex"},
        {"pattern": "(?=a)b"},
        {"pattern": r"(a)\1"},
        {"pattern": "a" * 3_000},
        {"pattern": "(a{100}){100}"},
        {"pattern": r"^((a|a|\b)*b|.*)$"},
        {"pattern": r"^((a|a|\<)*b|.*)$"},
        {"pattern": "^((a|a|b*+)*b|.*)$"},
        {"pattern": "(?x)a"},
        {"pattern": r"(?ix)(\w{ 900 }){ 900 }"},
        {"pattern": r"\s" * 50},
        {"pattern": r"[^\s]{400}"},
        {"patternProperties": {"(?=a)b": {}}},
        nested(100),
        doubled(20),
        {"enum": list(range(30_000))},
    ],
    ids=lambda schema: str(schema)[:40],
)
def test_what_has_no_bound_has_no_cost(schema: dict[str, Any]) -> None:
    assert schema_cost(schema) is None


def test_a_definition_that_is_used_often_counts_each_time() -> None:
    once, twice = (schema_cost(doubled(levels)) for levels in (3, 4))

    assert once is not None
    assert twice is not None
    assert 2 * once < twice < 2 * once + 10 < MAX_COST


def deep(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, 1),
        ({"ids": [1, 2.5]}, 5),
        ("x" * 320, 11),
        ({"x" * 320: 1}, 13),
        ((1, 2), 3),
        (1 << 2560, 101),
        (object(), 1),
    ],
)
def test_the_parts_of_a_value_are_counted(value: Any, expected: int) -> None:
    assert weight(value, 100) == expected


@pytest.mark.parametrize(
    "value",
    [[0] * 500, {str(at): at for at in range(500)}, [[0] * 60] * 5, {5: 1}, deep(300), "x" * 5_000],
    ids=["list", "object", "lists", "no text for a key", "deep", "text"],
)
def test_counting_ends_where_a_value_weighs_too_much(value: Any) -> None:
    assert weight(value, 100) > 100


def test_a_value_that_is_light_and_very_deep_weighs_too_much() -> None:
    assert weight(deep(150), 1_000) == 151
    assert weight(deep(300), 1_000) > 1_000
