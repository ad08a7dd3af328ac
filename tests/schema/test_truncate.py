"""Cutting: items leave from the end, at least one stays, and the rest is as it was."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from avow.schema import size, truncate


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
    cut = truncate(["x" * 100, "y" * 100], limit=10)
    assert (cut.value, cut.fits) == (["x" * 100], False)


def test_as_many_stay_as_the_schema_wants() -> None:
    schema: dict[str, Any] = {"properties": {"rows": {"type": "array", "minItems": 3}}}
    cut = truncate({"rows": ["x" * 100] * 9}, schema, limit=10)
    assert cut.kept == 3


def test_the_list_that_weighs_most_is_cut() -> None:
    cut = truncate({"tags": ["a", "b"], "rows": [{"deep": ["x" * 30] * 50}]}, limit=500)
    assert cut.path == ("rows", 0, "deep")
    assert cut.value["tags"] == ["a", "b"]


def test_what_has_no_list_is_left_whole() -> None:
    cut = truncate({"text": "x" * 100}, limit=10)
    assert cut.value == {"text": "x" * 100}
    assert not cut.fits


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
