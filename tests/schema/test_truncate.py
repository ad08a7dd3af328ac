"""Cutting: items leave from the end, at least one stays, and the rest is as it was."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.schema import at, size, truncate


def test_a_value_within_the_limit_is_the_same_object() -> None:
    value = {"rows": [1, 2, 3]}
    cut = truncate(value, limit=100)
    assert cut.value is value
    assert not cut.is_cut


def test_what_stands_beside_the_list_is_kept() -> None:
    value: dict[str, Any] = {
        "rows": [{"n": n, "text": "x" * 50} for n in range(212)],
        "cursor": "abc",
        "more": True,
    }
    cut = truncate(value, limit=2_500)
    assert (cut.value["cursor"], cut.value["more"]) == ("abc", True)
    assert cut.value["rows"] == value["rows"][: cut.kept]
    assert (cut.path, cut.total, cut.fits) == (("rows",), 212, True)
    one_more = {**value, "rows": value["rows"][: cut.kept + 1]}
    assert size(cut.value) <= 2_500 < size(one_more)


def test_at_least_one_item_stays_even_when_it_is_too_large() -> None:
    many = {f"n{number}": number for number in range(50)}
    cut = truncate([many, many], limit=10)
    assert (cut.value, cut.fits) == ([many], False)


def test_as_many_stay_as_the_schema_wants() -> None:
    schema: dict[str, Any] = {"properties": {"rows": {"type": "array", "minItems": 3}}}
    cut = truncate({"rows": ["x" * 100] * 9}, schema, limit=10)
    assert cut.kept == 3


def test_the_list_that_weighs_most_is_cut() -> None:
    cut = truncate({"tags": ["a", "b"], "rows": [{"deep": ["x" * 30] * 50}]}, limit=500)
    assert cut.path == ("rows", 0, "deep")
    assert cut.value["tags"] == ["a", "b"]


def test_what_has_no_list_and_no_text_is_left_whole() -> None:
    value = {f"n{number}": number for number in range(50)}
    cut = truncate(value, limit=10)
    assert cut.value == value
    assert not cut.fits
    assert not cut.is_cut


@pytest.mark.parametrize(
    "value",
    ["x" * 5_000, ["x" * 5_000], {"a": {"b": [{"c": "x" * 5_000}]}}, {"a": "\n" * 5_000, "b": 1}],
    ids=["a text", "a list of one", "deep", "escaped"],
)
def test_one_oversized_text_is_cut_and_says_how_long_it_was(value: Any) -> None:
    cut = truncate(value, limit=300)
    assert cut.fits
    assert size(cut.value) <= 300
    (piece,) = cut.pieces
    assert (piece.is_text, piece.total) == (True, 5_000)
    shown = at(cut.value, piece.path)
    assert shown.endswith(f"… [cut: the first {piece.kept} of 5000 characters]")
    assert shown[: piece.kept] == at(value, piece.path)[: piece.kept]


def test_a_huge_text_among_small_items_does_not_cost_the_items() -> None:
    value = {"rows": [{"text": "x" * 50_000}, *({"text": "y"} for _ in range(9))]}
    cut = truncate(value, limit=1_000)
    assert cut.fits
    assert cut.value["rows"][1:] == value["rows"][1:]


def test_what_is_left_of_a_list_is_cut_further() -> None:
    value = {"rows": [{"deep": list(range(900)), "text": "z" * 900} for _ in range(5)]}
    cut = truncate(value, limit=400)
    assert cut.fits
    assert [piece.path for piece in cut.pieces][:2] == [("rows",), ("rows", 0, "deep")]


FORMS: list[dict[str, Any]] = [
    {"format": "uri"},
    {"enum": ["x" * 5_000]},
    {"const": "x" * 5_000},
    {"contentEncoding": "base64"},
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: next(iter(form)))
@pytest.mark.parametrize("way", ["plain", "$ref", "anyOf", "pattern", "additional", "then"])
def test_a_text_of_a_certain_form_is_not_cut(form: dict[str, Any], way: str) -> None:
    held = {"type": "string", **form}
    schema: dict[str, Any] = {
        "plain": {"properties": {"a": held}},
        "$ref": {"$defs": {"A/b": held}, "properties": {"a": {"$ref": "#/$defs/A~1b"}}},
        "anyOf": {"properties": {"a": {"anyOf": [{"type": "null"}, {"allOf": [held]}]}}},
        "pattern": {"patternProperties": {"^a": held}},
        "additional": {"additionalProperties": held},
        "then": {"if": {"required": ["a"]}, "then": {"properties": {"a": held}}},
    }[way]
    value = {"a": "x" * 5_000}
    assert truncate(value, schema, limit=300).value is value
    assert truncate({**value, "b": "y" * 5_000}, {}, limit=300).fits


def test_a_cut_that_its_schema_refuses_is_made_elsewhere() -> None:
    value = {"id": "x" * 5_000, "text": "y" * 6_000}
    cut = truncate(value, limit=6_000, accepts=lambda one: one["id"] == value["id"])
    assert cut.fits
    assert [piece.path for piece in cut.pieces] == [("text",)]


def test_where_no_two_texts_may_be_cut_at_once_one_is_cut_alone() -> None:
    value = {"a": "x" * 900, "b": "y" * 800, "c": "z" * 100}

    def keeps_two(one: dict[str, str]) -> bool:
        return sum(one[key] != value[key] for key in value) < 2

    cut = truncate(value, limit=1_200, accepts=keeps_two)

    assert cut.fits
    assert [piece.path for piece in cut.pieces] == [("a",)]
    never = truncate(value, limit=1_200, accepts=lambda one: one == value)
    assert (never.value, never.fits, never.is_cut) == (value, False, False)


def test_a_list_that_must_stay_whole_is_passed_over() -> None:
    value = {"ids": list(range(300)), "rows": ["y" * 9] * 80}
    cut = truncate(value, limit=1_600, accepts=lambda one: one["ids"] == value["ids"])

    assert cut.fits
    assert cut.path == ("rows",)
    assert cut.value["ids"] == value["ids"]


def test_lists_within_lists_are_cut_no_more_often_than_eight_times() -> None:
    value: Any = list(range(200))
    for _ in range(12):
        value = [value, *["x"] * 5]
    cut = truncate(value, limit=20)

    assert not cut.fits
    assert len(cut.pieces) == 8


def test_what_is_nested_too_deeply_is_left_whole() -> None:
    value: Any = {"rows": ["x" * 500] * 9}
    for _ in range(200):
        value = {"a": value}
    cut = truncate(value, limit=2_000)

    assert (cut.value, cut.fits, cut.is_cut) == (value, False, False)


def test_a_character_keeps_its_marks() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301"
    for room in range(300, 330):
        shown = truncate(family * 500, limit=room).value.partition("… [cut")[0]
        assert not unicodedata.combining((family * 500)[len(shown)])
        assert not shown.endswith("\u200d")


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=40,
)


@given(JSON, st.integers(1, 400))
def test_no_value_grows_and_what_says_that_it_fits_does(value: Any, limit: int) -> None:
    cut = truncate(value, limit=limit)
    assert size(cut.value) <= size(value)
    assert cut.fits == (size(cut.value) <= limit)
    json.dumps(cut.value)


@given(st.lists(st.text(max_size=30), min_size=2, max_size=40), st.integers(1, 300))
def test_no_item_leaves_that_could_have_stayed(items: list[str], limit: int) -> None:
    cut = truncate(items, limit=limit)
    if cut.is_cut:
        assert cut.kept == 1 or size(items[: cut.kept]) <= limit
        assert size(items[: cut.kept + 1]) > limit


def test_half_a_surrogate_pair_hinders_no_cut() -> None:
    value = {"rows": ["\ud800" * 20, *("x" * 20 for _ in range(50))]}
    cut = truncate(value, limit=300)
    assert (cut.fits, cut.value["rows"]) == (True, value["rows"][: cut.kept])


def test_a_long_text_in_lists_within_lists_is_cut() -> None:
    cut = truncate({"rows": [[["short", "y" * 2_000]], [["short"]]]}, limit=1_000)
    assert (cut.fits, cut.total, cut.path) == (True, 2_000, ("rows", 0, 0, 1))
    assert cut.value["rows"][1] == [["short"]]
