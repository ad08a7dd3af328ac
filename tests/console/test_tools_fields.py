"""The form that is made from an input schema, and the arguments that it comes to."""

import time
from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from sayso.console.tools.fields import WHOLE, Field, Kind, fields_of, flat, pointer
from sayso.console.tools.filled import Filled, entries_of, read_checked
from sayso.workers import BoundedChecker


def read(
    fields: tuple[Field, ...], entries: Mapping[str, str], checker: BoundedChecker | None
) -> Filled:
    return anyio.run(read_checked, fields, entries, checker)


def schema(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required], **more}


EVERY = schema(
    {
        "name": {"type": "string", "maxLength": 40},
        "text": {"type": "string"},
        "password": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
        "price": {"type": "number"},
        "is_wet": {"type": "boolean"},
        "colour": {"enum": ["red", 7, None]},
        "fixed": {"const": "this"},
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "tones": {"type": "array", "items": {"enum": ["light", "dark"]}},
        "lines": {"type": "array", "items": {"type": "object"}},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "free": {"type": "object", "additionalProperties": {"type": "string"}},
        "place": {"$ref": "#/$defs/Place"},
        "anything": True,
    },
    **{"$defs": {"Place": schema({"street": {"type": "string"}, "no": {"type": "integer"}})}},
)


def test_each_kind_of_value_has_its_field() -> None:
    kinds = {one.name: one.kind for one in fields_of(EVERY)}

    assert kinds == {
        "name": Kind.TEXT,
        "text": Kind.LONG,
        "password": Kind.SECRET,
        "count": Kind.INTEGER,
        "price": Kind.NUMBER,
        "is_wet": Kind.BOOLEAN,
        "colour": Kind.CHOICE,
        "fixed": Kind.CHOICE,
        "day": Kind.DATE,
        "at": Kind.DATE_TIME,
        "tags": Kind.LINES,
        "sizes": Kind.LINES,
        "tones": Kind.MANY,
        "lines": Kind.JSON,
        "maybe": Kind.INTEGER,
        "either": Kind.JSON,
        "free": Kind.JSON,
        "place": Kind.GROUP,
        "anything": Kind.JSON,
    }


def test_a_filled_form_comes_to_arguments() -> None:
    filled = read(
        fields_of(EVERY),
        {
            "/name": " Amy ",
            "/text": "two\r\nlines",
            "/count": " 3 ",
            "/price": "2.50",
            "/is_wet": "no",
            "/colour": "1",
            "/day": "2026-02-03",
            "/at": "2026-02-03T04:05",
            "/tags": "a\r\n\r\n b",
            "/sizes": "1\n2",
            "/tones/1": "on",
            "/lines": '[{"a": 1}]',
            "/place/no": "7",
            "csrf": "not an argument",
        },
        BoundedChecker(EVERY),
    )

    assert filled.errors == {}
    assert filled.arguments == {
        "name": " Amy ",
        "text": "two\nlines",
        "count": 3,
        "price": 2.5,
        "is_wet": False,
        "colour": 7,
        "day": "2026-02-03",
        "at": "2026-02-03T04:05:00Z",
        "tags": ["a", " b"],
        "sizes": [1, 2],
        "tones": ["dark"],
        "lines": [{"a": 1}],
        "place": {"no": 7},
    }


def test_what_is_left_empty_is_left_out() -> None:
    fields = fields_of(EVERY)
    empty = {one.key: "" for one in flat(fields)}

    assert read(fields, empty, BoundedChecker(EVERY)).arguments == {}


@pytest.mark.parametrize(
    ("key", "said", "what"),
    [
        ("/count", "three", "“three” is not a whole number."),
        ("/count", "1.0", "“1.0” is not a whole number."),
        ("/count", "\u0661", "is not a whole number."),
        ("/count", "0", "0 is less than the minimum of 1"),
        ("/price", "1,5", "“1,5” is not a number. Write a number such as 12.5."),
        ("/price", "nan", "“nan” is not a number. Write a number such as 12.5."),
        ("/price", "1e999", "This number is too large."),
        ("/is_wet", "true", "Choose yes or no."),
        ("/colour", "9", "Choose one of the listed values."),
        ("/colour", "²", "Choose one of the listed values."),
        ("/sizes", "1\ntwo", "“two” is not a whole number."),
        ("/name", "x" * 41, "is longer than 40 characters"),
        ("/lines", "[", "This is not JSON"),
        ("/lines", '{"a": 1, "a": 2}', "This is not JSON"),
        ("/lines", "[" * 70 + "]" * 70, "nested deeper than 64 levels"),
        ("/lines", '["text"]', "is not of type"),
        ("/place/no", "x", "“x” is not a whole number."),
    ],
)
def test_what_is_wrong_stands_at_its_field(key: str, said: str, what: str) -> None:
    filled = read(fields_of(EVERY), {key: said}, BoundedChecker(EVERY))

    assert [*filled.errors] == [key]
    assert what in filled.errors[key][0]


def test_what_is_needed_is_asked_for_at_its_field() -> None:
    inner = schema({"street": {"type": "string"}}, "street")
    whole = schema(
        {"name": {"type": "string"}, "count": {"type": "integer"}, "a": inner, "b": inner},
        "name",
        "count",
        "a",
    )

    filled = read(fields_of(whole), {}, BoundedChecker(whole))

    assert [*filled.errors] == ["/name", "/count", "/a/street"]
    assert "empty text" in filled.errors["/name"][0]


def test_all_that_is_wrong_is_told_at_once() -> None:
    whole = schema(
        {"name": {"type": "string", "minLength": 2}, "count": {"type": "integer"}}, "name", "count"
    )

    assert [*read(fields_of(whole), {"/name": "A"}, BoundedChecker(whole)).errors] == [
        "/count",
        "/name",
    ]


def test_a_list_that_is_needed_may_be_empty() -> None:
    whole = schema({"tags": {"type": "array", "items": {"type": "string"}}}, "tags")

    assert read(fields_of(whole), {}, BoundedChecker(whole)).arguments == {"tags": []}


def test_what_is_wrong_with_the_whole_stands_on_top() -> None:
    whole = schema({"a": {"type": "string"}}, minProperties=1)

    assert [*read(fields_of(whole), {}, BoundedChecker(whole)).errors] == ["/"]


@pytest.mark.parametrize(
    "whole",
    [
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        schema({f"p{index}": {"type": "string"} for index in range(121)}),
        schema({"a": {"type": "string"}}, patternProperties={"^x": {}}),
    ],
)
def test_a_schema_that_fields_cannot_say_is_written_as_json(whole: dict[str, Any]) -> None:
    assert fields_of(whole) == WHOLE

    filled = read(WHOLE, {"/": '{"a": "b"}'}, None)

    assert filled.arguments == {"a": "b"}


@pytest.mark.parametrize("said", ["[]", "7", "null", '"text"'])
def test_arguments_must_be_an_object(said: str) -> None:
    assert [*read(WHOLE, {"/": said}, None).errors] == ["/"]


@pytest.mark.parametrize("whole", [None, {}, {"type": "object"}, schema({})])
def test_a_tool_without_arguments_has_no_field(whole: dict[str, Any] | None) -> None:
    assert fields_of(whole) == ()
    assert read((), {}, None).arguments == {}


def test_a_schema_that_leads_in_circles_ends() -> None:
    turning = schema({"next": {"$ref": "#/$defs/Node"}})
    whole = schema({"node": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": turning}})
    itself = schema({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {"$ref": "#/$defs/A"}}})

    found = [*flat(fields_of(whole))]

    assert [one.where for one in found[:2]] == ["node", "node.next"]
    assert [one.kind for one in found] == [Kind.GROUP, Kind.GROUP, Kind.GROUP, Kind.JSON]
    assert [one.kind for one in fields_of(itself)] == [Kind.JSON]


@pytest.mark.parametrize("odd", [{"type": ["string", 7]}, {"enum": "x"}, {"type": {}}, 7, [], None])
def test_an_odd_schema_breaks_nothing(odd: Any) -> None:
    (one,) = fields_of(schema({"a": odd}))

    assert one.path == ("a",)


def test_names_of_any_kind_reach_their_place() -> None:
    names = ["a/b", "a~1b", "", "c.d", "csrf", "mode", "<b>"]
    whole = schema({name: {"type": "string"} for name in names})
    fields = fields_of(whole)

    filled = read(fields, {one.key: one.name for one in fields}, BoundedChecker(whole))

    assert filled.arguments == {name: name for name in names if name}
    assert pointer(("a/b", "~")) == "/a~1b/~0"


ARGUMENTS = {
    "name": "Amy",
    "text": "two\nlines",
    "count": 3,
    "price": 2.5,
    "is_wet": True,
    "colour": 7,
    "day": "2026-02-03",
    "tags": ["a", "b"],
    "sizes": [1, 2],
    "tones": ["dark"],
    "lines": [{"a": 1}],
    "place": {"no": 7},
}


def test_arguments_can_be_put_into_the_form_again() -> None:
    fields = fields_of(EVERY)
    entries = entries_of(fields, ARGUMENTS)

    assert entries is not None
    assert read(fields, entries, BoundedChecker(EVERY)).arguments == ARGUMENTS


@pytest.mark.parametrize(
    "arguments",
    [{"name": ""}, {"tags": ["two\nlines"]}, {"unknown": 1}, {"tags": "text"}, {"maybe": None}],
)
def test_what_fields_cannot_say_is_not_put_into_them(arguments: dict[str, Any]) -> None:
    assert entries_of(fields_of(EVERY), arguments) is None


@pytest.mark.parametrize(
    "members",
    [
        {f"p{index}": {"type": "string"} for index in range(50_000)},
        {f"p{index}": {"$ref": "#/$defs/many"} for index in range(100)},
    ],
    ids=["named", "by reference"],
)
def test_fields_that_are_too_many_are_not_even_made(members: dict[str, Any]) -> None:
    many = {"type": "object", "properties": members}
    begun = time.perf_counter()
    assert fields_of({**many, "$defs": {"many": many}}) == WHOLE
    assert time.perf_counter() - begun < 1
