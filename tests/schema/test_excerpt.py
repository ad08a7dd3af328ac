"""The beginning of a large value, which says what is left out."""

from typing import Any

import pytest

from sayso.schema import MASK, size
from sayso.schema.excerpts import MAX_CHARACTERS, excerpt


def test_a_small_value_is_its_own_excerpt() -> None:
    value = {"id": 1, "tags": ["a", None, 2.5], "owner": {"name": "Ada", "is_admin": True}}

    assert excerpt(value) == value


def test_what_is_left_out_is_counted_in_its_place() -> None:
    made = excerpt(
        {"text": "x" * 5_000, "list": [0] * 250, "object": {str(n): n for n in range(250)}}
    )

    assert made["text"] == f"{'x' * 4_000}{MASK} 1000 more characters"
    assert made["list"] == [*[0] * 200, f"{MASK} 50 more items"]
    assert len(made["object"]) == 201
    assert made["object"][MASK] == "50 more members"


def test_a_long_name_is_cut() -> None:
    assert excerpt({"n" * 5_000: 1}) == {f"{'n' * 4_000}{MASK}": 1}


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        {f"t{n}": "x" * 3_000 for n in range(50)},
        {"lists": [[0] * 190] * 190},
        {"deep": nested(60)},
        {"wide": [{str(n): "x" * 50 for n in range(100)}] * 100},
    ],
    ids=["texts", "lists", "deep", "objects"],
)
def test_no_excerpt_is_much_longer_than_its_bound(value: dict[str, Any]) -> None:
    made = excerpt(value)

    assert size(made) < 2 * MAX_CHARACTERS
    assert MASK in str(made)
