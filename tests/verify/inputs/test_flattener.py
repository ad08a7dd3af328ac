from typing import Any

import pytest

from sayso.verify.inputs.flattener import Flattener, merge, types_of


def test_a_reference_is_followed_and_what_stands_beside_it_counts_too() -> None:
    root = {"$defs": {"a/b": {"type": "string", "minLength": 2}}}

    found = Flattener(root).flat({"$ref": "#/$defs/a~1b", "minLength": 5, "title": "T"})

    assert found == {"type": "string", "minLength": 5, "title": "T"}


def test_parts_of_all_of_are_merged_to_what_fits_all_of_them() -> None:
    node = {
        "allOf": [
            {"type": ["integer", "string"], "minimum": 1, "multipleOf": 4},
            {"type": "number", "minimum": 3, "multipleOf": 6},
        ]
    }

    assert Flattener(node).flat(node) == {"type": ["integer"], "minimum": 3, "multipleOf": 12}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "string"}, {"type": "integer"}),
        ({"enum": [1, 2]}, {"enum": [3]}),
    ],
)
def test_parts_that_share_nothing_fit_nothing(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert merge(one, other) is None


def test_what_one_part_closes_out_the_other_cannot_bring_in() -> None:
    closed = {"properties": {"a": {}}, "additionalProperties": False}

    found = merge(closed, {"properties": {"b": {"type": "string"}}})

    assert found is not None
    assert found["properties"]["b"] is False


def test_a_reference_in_a_circle_ends() -> None:
    root = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}

    assert Flattener(root).flat(root) is not None


def test_names_of_schemas_are_found_where_they_stand() -> None:
    root = {"$defs": {"x": {"$anchor": "here", "type": "null"}, "y": {"$id": "y.json"}}}
    flattener = Flattener(root)

    assert types_of(flattener.flat({"$ref": "#here"}) or {}) == ("null",)
    assert flattener.find("y.json") == {"$id": "y.json"}
    assert flattener.find("elsewhere.json") is True
