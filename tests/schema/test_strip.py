"""Stripping leaves what the schema names, wherever it names it, and nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.schema import Checker, Stripper

PERSON = {"type": "object", "properties": {"id": {}, "name": {}}}


@pytest.mark.parametrize(
    ("schema", "value", "kept"),
    [
        (PERSON, {"id": 1, "password": "x"}, {"id": 1}),
        ({"type": "array", "items": PERSON}, [{"id": 1, "x": 2}], [{"id": 1}]),
        ({"properties": {"a": PERSON}}, {"a": {"id": 1, "x": 2}}, {"a": {"id": 1}}),
        ({"type": "object"}, {"anything": 1}, {"anything": 1}),
        ({**PERSON, "additionalProperties": True}, {"id": 1, "x": 2}, {"id": 1, "x": 2}),
        (
            {"type": "object", "additionalProperties": PERSON},
            {"amy": {"id": 1, "x": 2}},
            {"amy": {"id": 1}},
        ),
        ({"patternProperties": {"^x-": {}}}, {"x-a": 1, "b": 2}, {"x-a": 1}),
        ({"$ref": "#/$defs/P", "$defs": {"P": PERSON}}, {"id": 1, "x": 2}, {"id": 1}),
        (
            {"allOf": [PERSON, {"properties": {"x": {}}}]},
            {"id": 1, "x": 2, "y": 3},
            {"id": 1, "x": 2},
        ),
        (
            {
                "anyOf": [
                    {"properties": {"k": {"const": 1}, "a": {}}},
                    {"properties": {"k": {"const": 2}, "b": {}}},
                ]
            },
            {"k": 2, "a": 1, "b": 2},
            {"k": 2, "b": 2},
        ),
        ({"oneOf": [True, False]}, {"a": 1}, {"a": 1}),
        (
            {
                "properties": {"k": {}},
                "if": {"properties": {"k": {"const": 1}}},
                "then": {"properties": {"a": {}}},
                "else": {"properties": {"b": {}}},
            },
            {"k": 1, "a": 1, "b": 2},
            {"k": 1, "a": 1},
        ),
        (
            {
                "properties": {"k": {}},
                "if": {"properties": {"k": {"const": 1}}},
                "then": {"properties": {"a": {}}},
                "else": {"properties": {"b": {}}},
            },
            {"k": 2, "a": 1, "b": 2},
            {"k": 2, "b": 2},
        ),
        (
            {"prefixItems": [PERSON], "items": {"properties": {"x": {}}}},
            [{"id": 1, "x": 2}, {"id": 1, "x": 2}],
            [{"id": 1}, {"x": 2}],
        ),
        (
            {"properties": {"a/b": PERSON}, "additionalProperties": {"$ref": "#/properties/a~1b"}},
            {"c": {"id": 1, "x": 2}},
            {"c": {"id": 1}},
        ),
        ({"$ref": "elsewhere.json"}, {"a": 1}, {"a": 1}),
        ({"type": "string"}, "text", "text"),
    ],
)
def test_what_stays(schema: dict[str, Any], value: Any, kept: Any) -> None:
    assert Stripper(schema).strip(value) == kept


def test_what_needs_no_change_is_the_same_object() -> None:
    value = {"id": 1, "name": {"deep": [1, 2]}}
    assert Stripper(PERSON).strip(value) is value


def test_each_item_of_a_list_is_held_to_the_branch_that_it_fits_itself() -> None:
    cat = {"properties": {"kind": {"const": "cat"}, "lives": {}}}
    dog = {"properties": {"kind": {"const": "dog"}, "tricks": {}}}
    stripper = Stripper({"items": {"anyOf": [cat, dog]}})
    whole = [{"kind": kind, "lives": 9, "tricks": 2} for kind in ("cat", "dog", "cat")]

    expected = [
        {"kind": "cat", "lives": 9},
        {"kind": "dog", "tricks": 2},
        {"kind": "cat", "lives": 9},
    ]
    assert stripper.strip(whole) == expected
    assert stripper.strip(whole) == expected


def test_a_schema_that_refers_to_itself_ends() -> None:
    tree = {
        "$ref": "#/$defs/T",
        "$defs": {
            "T": {"properties": {"v": {}, "sub": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}
        },
    }
    assert Stripper(tree).strip({"v": 1, "x": 2, "sub": [{"v": 1, "y": 3}]}) == {
        "v": 1,
        "sub": [{"v": 1}],
    }
    assert Stripper({"$ref": "#"}).strip({"a": 1}) == {"a": 1}


@given(st.dictionaries(st.sampled_from(["id", "name", "x", "y"]), st.integers()))
def test_what_is_stripped_fits_a_closed_schema_and_loses_nothing_that_is_named(
    value: dict[str, int],
) -> None:
    kept = Stripper(PERSON).strip(value)
    assert Checker({**PERSON, "additionalProperties": False}).is_valid(kept)
    assert kept == {key: one for key, one in value.items() if key in ("id", "name")}
