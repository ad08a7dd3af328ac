from typing import Any

import pytest

from sayso.testing.widening import shape_of, widened

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (NUMBER, {"type": "number"}, "was integer, also accepts number"),
        (NUMBER, {}, "was integer, is of any type"),
        (NUMBER, True, "accepts anything now"),
        (False, NUMBER, "is accepted now"),
        (NUMBER, {"anyOf": [NUMBER, TEXT]}, 'also accepts another form: {"type":"string"}'),
        ({"anyOf": [TEXT]}, {"anyOf": [TEXT, NUMBER]}, "also accepts another form"),
        ({"anyOf": [TEXT, NUMBER]}, {}, "was one of several forms"),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}, 'also accepts "b"'),
        ({"const": "a"}, {"type": "string"}, "was one of a list of values, accepts any"),
        ({"minimum": 1}, {"minimum": 0}, "minimum was 1, is 0"),
        ({"maxLength": 5}, {}, "maxLength was 5, is unlimited"),
        ({"pattern": "^a$"}, {"pattern": "a"}, 'pattern was "^a$", is "a"'),
        ({"format": "email"}, {}, 'format was "email", is gone'),
        (
            {"items": TEXT},
            {"items": {"type": ["string", "null"]}},
            "[]: was string, also accepts null",
        ),
        ({"items": TEXT}, {}, "[]: accepts anything now"),
        (
            {"properties": {"a": {"properties": {"b": NUMBER}}}},
            {"properties": {"a": {"properties": {"b": {}}}}},
            "a.b: was integer, is of any type",
        ),
        (
            {"additionalProperties": NUMBER},
            {"additionalProperties": {"type": "number"}},
            "additionalProperties: was integer",
        ),
        ({"additionalProperties": NUMBER}, {}, "additionalProperties: accepts anything now"),
        ({"additionalProperties": False}, {"additionalProperties": NUMBER}, "additionalProperties"),
    ],
)
def test_what_takes_more_is_told(old: Any, new: Any, words: str) -> None:
    assert any(one.startswith(words) for one in widened(old, new)), list(widened(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "number"}, NUMBER),
        ({}, TEXT),
        (True, TEXT),
        (TEXT, False),
        ({"enum": ["a", "b"]}, {"const": "a"}),
        ({"maximum": 5}, {"maximum": 4}),
        ({"maximum": 5}, {"maximum": "many"}),
        ({"anyOf": [TEXT, NUMBER]}, TEXT),
        ({}, {"pattern": "a", "required": ["a"]}),
        ({"properties": {"a": TEXT}}, {"properties": {}}),
    ],
)
def test_what_takes_less_is_not(old: Any, new: Any) -> None:
    assert list(widened(old, new)) == []


def test_a_shape_has_no_words_but_keeps_names_that_look_like_them() -> None:
    schema = {
        "title": "A",
        "description": "B",
        "properties": {"title": {"type": "string", "default": "x"}, "b": {"$ref": "#/$defs/B"}},
        "required": ["b", "a"],
        "$defs": {"B": {"type": "object", "title": "B", "items": {"$ref": "#/$defs/B"}}},
    }
    assert shape_of(schema) == {
        "properties": {
            "title": {"type": "string"},
            "b": {"type": "object", "items": {"$ref": "#/$defs/B"}},
        },
        "required": ["a", "b"],
    }
