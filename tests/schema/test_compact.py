"""JSON as text: what strict JSON cannot say is said as Python's own module has it."""

import json

import pytest

from sayso.schema import RepeatedKeyError, exact, parse_json
from sayso.schema.compact import read_json, read_strictly, write_json


def test_half_a_surrogate_pair_is_written() -> None:
    assert json.loads(write_json({"a": "\ud800"})) == {"a": "\ud800"}


def test_what_is_nested_too_deeply_is_no_json() -> None:
    with pytest.raises(ValueError, match=r"nested too deeply|recursion"):
        read_json("[" * 100_000)


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {}},
        {"items": {"oneOf": []}},
        {"properties": {"a": {"if": {}}}},
        {"anyOf": [{"allOf": []}]},
        {"additionalProperties": {"not": {}}},
        {"items": 7},
    ],
)
def test_a_schema_that_could_be_turned_around_has_no_exact_form(schema: dict[str, object]) -> None:
    assert exact(schema) is None


def test_an_exact_schema_closes_what_names_properties_and_nothing_else() -> None:
    inner = {"properties": {"b": True}}
    made = exact({"properties": {"a": {"items": inner}}, "additionalProperties": inner})

    closed = {"properties": {"b": True}, "additionalProperties": False}
    assert made == {"properties": {"a": {"items": closed}}, "additionalProperties": closed}
    assert exact({"anyOf": [inner, True]}) == {"anyOf": [closed, True]}
    assert exact({"properties": {}, "additionalProperties": True}) == {
        "properties": {},
        "additionalProperties": True,
    }


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1}',
        '{ "a" : [1, 2.50, "\\u0041"] }',
        "[18446744073709551616]",
        '{"a":{"a":1e5}}',
    ],
)
def test_strict_reading_has_one_value_for_each_form(text: str) -> None:
    assert read_strictly(text.encode()) == json.loads(text)


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '[{"b":{"a":1,"a":2}}]', '{"a":1, "\\u0061":2}'])
def test_strict_reading_refuses_a_repeated_key(text: str) -> None:
    with pytest.raises(RepeatedKeyError):
        read_strictly(text.encode())


def test_bytes_of_another_encoding_are_read() -> None:
    assert parse_json('{"a":"ä"}'.encode("utf-16")) == {"a": "ä"}
