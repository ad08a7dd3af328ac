"""Canonical JSON against the reference implementation, and where it departs on purpose."""

import json
import math
from collections.abc import Callable
from enum import Enum
from hashlib import sha256
from types import MappingProxyType

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import UsageError
from sayso.schema import canonical, digest, digest_exactly, parse_json

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
    ("value", "message"),
    [
        (math.nan, "nan is not a JSON number"),
        (math.inf, "inf is not a JSON number"),
        ([-math.inf], "-inf is not a JSON number"),
        ("\ud800", "string with a lone surrogate"),
        ({"a": "\udc00"}, "string with a lone surrogate"),
        ({"\ud800": 1}, "string with a lone surrogate"),
        ({1: 2}, "object keys must be strings, got 1"),
        ({None: 1}, "object keys must be strings, got None"),
        ({"a": {1, 2}}, "set is not a JSON value"),
        (b"x", "bytes is not a JSON value"),
        (bytearray(b"x"), "bytearray is not a JSON value"),
        (object(), "object is not a JSON value"),
    ],
)
def test_what_json_cannot_say_is_refused(value: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        canonical(value)
    assert str(caught.value) == message


def test_a_number_of_an_enumeration_is_spelt_as_the_number_it_is() -> None:
    class Size(int, Enum):
        LARGE = 2**60

    assert canonical([Size.LARGE]) == b"[1152921504606846976]"


def test_an_integer_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(UsageError, match="integer with too many digits"):
        canonical({"a": -(10**5000)})


def in_list(inner: object) -> object:
    return [inner]


def in_object(inner: object) -> object:
    return {"a": inner}


@pytest.mark.parametrize("wrap", [in_list, in_object])
def test_nesting_is_bounded(wrap: Callable[[object], object]) -> None:
    deep: object = 0
    for _ in range(200):
        deep = wrap(deep)

    assert canonical(deep)
    with pytest.raises(UsageError, match="nested deeper than 200 levels"):
        canonical(wrap(deep))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, b"null"),
        (True, b"true"),
        (False, b"false"),
        ([], b"[]"),
        ({}, b"{}"),
        ((1, "a", None), b'[1,"a",null]'),
        ({"b": 1, "a": [True, {}]}, b'{"a":[true,{}],"b":1}'),
        (MappingProxyType({"a": 1}), b'{"a":1}'),
        ('\u20ac\x00\n"', b'"\xe2\x82\xac\\u0000\\n\\""'),
        (-0.0, b"0"),
        (1.0, b"1"),
        (0.1, b"0.1"),
        (-1.5, b"-1.5"),
        (0.002, b"0.002"),
        (1e-6, b"0.000001"),
        (1e-7, b"1e-7"),
        (1.25e-7, b"1.25e-7"),
        (1e20, b"100000000000000000000"),
        (1e21, b"1e+21"),
        (-1.5e300, b"-1.5e+300"),
        (123456.789, b"123456.789"),
        (5e-324, b"5e-324"),
        (2**53, b"9007199254740992"),
        (-(2**53) - 1, b"-9007199254740993"),
    ],
    ids=repr,
)
def test_a_value_has_the_one_spelling_that_rfc_8785_gives_it(value: object, text: bytes) -> None:
    assert canonical(value) == text


def test_keys_are_sorted_as_utf_16_has_them_not_by_code_point() -> None:
    assert canonical({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'.encode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, b"1"),
        (1.0, b"1.0"),
        (-0.0, b"-0.0"),
        (0.0, b"0.0"),
        (1.5, b"1.5"),
        (1e21, b"1e+21"),
        ([-1.0, {"a": 1e-7}], b'[-1.0,{"a":1e-7}]'),
    ],
    ids=repr,
)
def test_an_exact_digest_keeps_the_kind_of_each_number(value: object, text: bytes) -> None:
    assert digest_exactly(value) == sha256(text).hexdigest()


def test_a_digest_is_sha_256_of_the_canonical_form() -> None:
    assert digest({"b": 1, "a": "€"}) == sha256('{"a":"€","b":1}'.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "duplicate key 'a'"),
        ('{"a": {"b": 1, "b": 1}}', "duplicate key 'b'"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": Infinity}', "Infinity is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ('{"a": }', "line 1, column 7: not JSON: Expecting value"),
        ('{\n "a": [}', "line 2, column 8: not JSON: Expecting value"),
        ("", "line 1, column 1: not JSON: Expecting value"),
        ('{"a": 1e999}', "number too large for a double"),
        ("-1e999", "number too large for a double"),
        ("[" + "1" * 5000 + "]", "integer with too many digits"),
        (b"\xff\xfe\xfd", "not UTF-8 text (byte 2)"),
        (b'"\xe2\x82"', "not UTF-8 text (byte 1)"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_reading_is_strict(text: str | bytes, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_json(text)
    assert str(caught.value) == message


@given(VALUES)
def test_what_is_written_reads_back(value: object) -> None:
    assert parse_json(canonical(value)) == json.loads(rfc8785.dumps(value))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("text", ['{"a": [1, 2.5, -1e-400, "x", null, true]}', b'{"a": 1}'])
def test_ordinary_json_reads_as_it_always_does(text: str | bytes) -> None:
    assert parse_json(text) == json.loads(text)
