from typing import Any

import pytest

from sayso.testing.samples import sample

ID = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, {}),
        ({"properties": {"id": ID}}, {}),
        ({"examples": [{"id": 3}], "properties": {"id": ID}, "required": ["id"]}, {"id": 3}),
        ({"properties": {"id": {**ID, "examples": [4, 5]}}, "required": ["id"]}, {"id": 4}),
        ({"properties": {"id": {"enum": ["a", "b"]}}, "required": ["id"]}, {"id": "a"}),
        ({"properties": {"id": {**ID, "default": 6}}, "required": ["id"]}, {"id": 6}),
        ({"properties": {"id": {"const": None}}, "required": ["id"]}, {"id": None}),
        ({"properties": {"id": ID}, "required": ["id"]}, "its schema has no example for id"),
        ({"required": ["id"]}, "its schema has no example for id"),
        (
            {"properties": {"id": {**ID, "examples": ["a"]}}, "required": ["id"]},
            "the examples of its schema are invalid: id",
        ),
    ],
)
def test_arguments_come_from_the_schemas_own_words(schema: Any, expected: Any) -> None:
    found = sample(schema)
    if isinstance(expected, str):
        assert isinstance(found, str)
        assert found.startswith(expected)
    else:
        assert found == expected
