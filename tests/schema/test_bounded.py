"""Excerpts of large arguments, trace identifiers, and cells of a table."""

import csv
import io
import json
from typing import Any

import pytest

from sayso.audit.exporter import export
from sayso.schema import MASK, hide, parse_path, read_traceparent, size
from sayso.schema.bounds import (
    MAX_EXCERPT_CHARACTERS,
    MAX_KEPT_CHARACTERS,
    bounded,
    excerpt,
)
from sayso.store import RecordRow

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def nested(depth: int) -> Any:
    value: Any = "x" * 100
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        {"text": "a" * 4_000_000},
        {"texts": ["a" * 1000] * 4000},
        {"numbers": list(range(900_000))},
        {f"key{number}": number for number in range(300_000)},
        {"a" * 1_000_000: 1},
        {"text": "\u0001" * 100_000},
        {"text": "\U0001f600" * 100_000},
        [[[["a" * 20_000] * 2] * 2] * 2] * 2,
        {"deep": [nested(500)] * 1000},
        {"many": [{"a": [1, 2, {"b": "c" * 50}]}] * 20_000},
    ],
    ids=range(10),
)
def test_large_arguments_are_cut_and_say_so(value: Any) -> None:
    kept = bounded(value)
    text = json.dumps(kept, ensure_ascii=False)
    assert len(text) < 8 * MAX_KEPT_CHARACTERS
    assert MASK in text
    assert bounded(kept, limit=10**9) == kept


def test_small_arguments_stay_as_they_are() -> None:
    value = {"text": "a" * (MAX_KEPT_CHARACTERS - 100), "list": [1, 2.5, None, True]}
    assert bounded(value) is value


def test_a_small_value_is_its_own_excerpt() -> None:
    value = {"id": 1, "tags": ["a", None, 2.5], "owner": {"name": "Ada", "is_admin": True}}

    assert excerpt(value) == value


def test_what_is_left_out_is_counted_in_its_place() -> None:
    made = excerpt(
        {"text": "x" * 5_000, "list": [0] * 250, "object": {str(n): n for n in range(250)}}
    )

    assert made["text"] == f"{'x' * 4_096}{MASK} (904 more characters)"
    assert made["list"] == [*[0] * 200, f"{MASK} (50 more items)"]
    assert len(made["object"]) == 201
    assert made["object"][MASK] == "50 more fields"


def test_a_long_name_is_cut() -> None:
    assert excerpt({"n" * 5_000: 1}) == {f"{'n' * 256}{MASK} (4,744 more characters)": 1}


def test_a_name_at_the_end_of_an_excerpt_is_still_found_by_what_masks_it() -> None:
    hidden = [parse_path("$.salary")]
    for filled in range(3_900, 4_000):
        value = {"list": ["x" * 4_000] * 4, "text": "x" * filled, "salary": 87_654_321}
        made = excerpt(value)
        assert "87654321" not in str(hide(made, hidden))
        assert made.keys() <= {*value, MASK}


def test_names_that_are_cut_alike_hide_no_field() -> None:
    value = {f"{'n' * 300}{number}": f"value {number}" for number in range(3)}

    assert [*excerpt(value).values()] == ["value 0", "value 1", "value 2"]
    assert [*bounded(value, limit=900).values()] == ["value 0", "value 1", "value 2"]


def test_no_count_and_no_name_takes_the_place_of_a_field() -> None:
    value = {MASK: "delete", f"{MASK}{MASK}201": 1, **{str(n): n for n in range(250)}}

    made = excerpt({"object": value})["object"]

    assert made[MASK] == "delete"
    assert made[f"{MASK}{MASK}201"] == 1
    assert made[f"{MASK}{MASK}200"] == "52 more fields"


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

    assert size(made) < 2 * MAX_EXCERPT_CHARACTERS
    assert MASK in str(made)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "password=hunter2",
        TRACE.upper(),
        f"{TRACE} ",
        f"{TRACE}\n",
        f"{TRACE}-secret",
        TRACE.replace("00-", "ff-", 1),
        "00-" + "0" * 32 + "-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01",
        TRACE.replace("0af7", "\u0660af7"),
        7,
        None,
        [TRACE],
    ],
)
def test_only_a_well_formed_trace_is_kept(text: Any) -> None:
    assert read_traceparent(text) is None
    assert read_traceparent(TRACE) == TRACE


@pytest.mark.parametrize(
    "text",
    [
        *("=1", "+1", "-1", "@x", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", "\ufe661", "\u22121"),
        *("\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\tx", "\rx"),
    ],
)
def test_no_cell_is_a_formula(text: str) -> None:
    body = json.dumps({"client": text, "tool": "plain - text"})
    table = "".join(export([RecordRow("c", 1.0, "outcome", body)], "csv"))
    (row,) = csv.DictReader(io.StringIO(table, newline=""))
    assert row["client"] == f"'{text}"
    assert row["tool"] == "plain - text"


def test_the_count_of_fields_takes_a_name_that_no_field_has() -> None:
    fields = {MASK: 1, f"{MASK}{MASK}200": 2} | {f"f{number}": number for number in range(250)}
    made = excerpt(fields)
    assert made[f"{MASK}{MASK}201"] == "52 more fields"
    assert (made[MASK], made[f"{MASK}{MASK}200"]) == (1, 2)
