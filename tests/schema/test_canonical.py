"""Canonical JSON against the reference implementation, and where it departs on purpose."""

import json
import math

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from avow.errors import UsageError
from avow.schema import canonical, digest, parse_json

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = (
    st.none()
    | st.booleans()
    | TEXT
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)


@given(VALUES)
def test_canonical_form_is_that_of_the_reference(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(value)  # pyright: ignore[reportArgumentType]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_spelt_as_the_reference_spells_it(number: float) -> None:
    assert canonical(number) == rfc8785.dumps(number)


@given(VALUES)
def test_the_order_of_keys_does_not_matter(value: object) -> None:
    assert digest({"a": value, "b": 1}) == digest({"b": 1, "a": value})


def test_integers_beyond_double_precision_keep_their_digits() -> None:
    assert canonical(2**53 + 1) == b"9007199254740993"
    assert digest({"id": 2**53 + 1}) != digest({"id": 2**53 + 2})


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (math.nan, "not a JSON number"),
        (math.inf, "not a JSON number"),
        ("\ud800", "surrogate"),
        ({1: 2}, "must be a string"),
        ({"a": {1, 2}}, "set is not a JSON value"),
        (b"x", "bytes is not a JSON value"),
    ],
)
def test_what_json_cannot_say_is_refused(value: object, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        canonical(value)


def test_nesting_is_bounded() -> None:
    deep: object = 0
    for _ in range(250):
        deep = [deep]
    with pytest.raises(UsageError, match="nested deeper"):
        canonical(deep)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('{"a": 1, "a": 2}', "given twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ('{"a": }', "line 1, column 7: not JSON"),
        (b"\xff\xfe\xfd", "not UTF-8"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_reading_is_strict(text: str | bytes, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_json(text)
    assert part in str(caught.value)


@given(VALUES)
def test_what_is_written_reads_back(value: object) -> None:
    assert parse_json(canonical(value)) == json.loads(rfc8785.dumps(value))  # pyright: ignore[reportArgumentType]
