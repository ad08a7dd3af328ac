"""Places that are masked because somebody said so."""

from typing import Any

import pytest

from sayso.errors import UsageError
from sayso.schema import MASK
from sayso.schema.paths import hide, parse_path

VALUE = {"a": {"b": 1, "c d": 2}, "list": [{"iban": "x", "n": 1}, {"iban": "y"}], "text": "t"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.a.b", {**VALUE, "a": {"b": MASK, "c d": 2}}),
        ("$.a['c d']", {**VALUE, "a": {"b": 1, "c d": MASK}}),
        ("$.a.*", {**VALUE, "a": {"b": MASK, "c d": MASK}}),
        ("$.list[1].iban", {**VALUE, "list": [{"iban": "x", "n": 1}, {"iban": MASK}]}),
        ("$.list[*].iban", {**VALUE, "list": [{"iban": MASK, "n": 1}, {"iban": MASK}]}),
        ("$..iban", {**VALUE, "list": [{"iban": MASK, "n": 1}, {"iban": MASK}]}),
        ("$.text.deeper", VALUE),
        ("$.nothing", VALUE),
    ],
)
def test_what_a_path_leads_to_is_masked(path: str, expected: Any) -> None:
    assert hide(VALUE, [parse_path(path)]) == expected


@pytest.mark.parametrize("path", ["", "$", "a.b", "$.a[", "$.a[?(@.b)]", "$a", "$.a b"])
def test_a_path_that_cannot_be_followed_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="invalid path"):
        parse_path(path)
