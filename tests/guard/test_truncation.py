"""Notices about items that a cut left out, and the cursors next to them."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.guard.call import Resume
from sayso.guard.truncation import with_continuation
from sayso.schema import Cut, truncate


def cut_of(value: Any, limit: int = 60) -> Cut:
    cut = truncate(value, limit=limit)
    assert cut.is_cut
    return cut


def rest(*given: Any) -> tuple[Any, str]:
    cut = with_continuation(*given)
    return cut.value, cut.notice


ITEMS = ["x" * 20] * 9


def accepts(_: object) -> bool:
    return True


def refuses(_: object) -> bool:
    return False


def nowhere(_: Sequence[Any]) -> None:
    return None


def after(_: Sequence[Any]) -> str:
    return "after"


@pytest.mark.parametrize(
    "name",
    [
        *("cursor", "next_cursor", "nextCursor", "NextCursor", "endCursor", "next", "nextPage"),
        *("next_page_token", "nextPageToken", "nextToken", "next-offset", "continuation_token"),
    ],
)
def test_a_place_to_go_on_from_is_taken_out_whatever_it_is_called(name: str) -> None:
    value, said = rest(cut_of({"rows": ITEMS, name: "abc", "total": 9}), accepts)
    assert value == {"rows": ITEMS[:1], name: None, "total": 9}
    assert f"“{name}” would have skipped them and is removed." in said
    assert "Showing the first 1 of 9; the other 8 are left out." in said


@pytest.mark.parametrize("end", ["", None, False, True, {"a": 1}, ["a"]])
def test_what_is_no_place_is_left(end: Any) -> None:
    value, said = rest(cut_of({"rows": ITEMS, "next": end}), accepts)
    assert value["next"] == end
    assert "skip" not in said


def test_so_it_is_in_an_object_beside_the_list_and_in_one_around_it() -> None:
    page = {"endCursor": "abc", "hasNextPage": True}
    found = {"data": {"rows": ITEMS, "page_info": page, "other": {"title": "next"}}, "next": 4}
    value, said = rest(cut_of(found), accepts)
    assert value == {
        "data": {
            "rows": ITEMS[:1],
            "page_info": {"endCursor": None, "hasNextPage": True},
            "other": {"title": "next"},
        },
        "next": None,
    }
    assert "“endCursor”" in said
    assert "“next”" in said


def test_a_list_inside_an_item_is_not_what_the_cursor_outside_goes_on_with() -> None:
    found = {"rows": [{"deep": ITEMS, "next": "b"}], "next": "a"}
    value, said = rest(cut_of(found), accepts)
    assert value == {"rows": [{"deep": ITEMS[:1], "next": None}], "next": "a"}
    assert said.count("“next”") == 1


def test_a_list_that_stands_alone_has_nothing_beside_it() -> None:
    value, said = rest(cut_of(ITEMS), accepts)
    assert value == ITEMS[:2]
    assert said == (
        "Showing the first 2 of 9; the other 7 are left out. Filter, or ask for fewer at a time."
    )


def test_what_may_be_neither_null_nor_missing_stays_and_is_told_of() -> None:
    value, said = rest(cut_of({"rows": ITEMS, "next": "abc"}), refuses)
    assert value["next"] == "abc"
    assert "“next” continues after them, so it skips them." in said


def test_where_it_is_known_how_to_go_on_the_cursor_says_so() -> None:
    resume = Resume("rows", lambda items: f"after {len(items)}", "next")
    value, said = rest(cut_of({"rows": ITEMS, "next": "abc"}), accepts, resume)
    assert value == {"rows": ITEMS[:1], "next": "after 1"}
    assert said == (
        "Showing the first 1 of 9 from here on. For more make the same call again, with next as "
        "its cursor."
    )


@pytest.mark.parametrize(
    ("resume", "accepted"),
    [
        (Resume("rows", nowhere, "next"), True),
        (Resume("rows", after, "next"), False),
        (Resume("others", after, "next"), True),
    ],
    ids=["no such call", "not in the schema", "another list"],
)
def test_where_it_cannot_be_had_so_it_is_as_with_any_other(
    resume: Resume,
    accepted: bool,  # noqa: FBT001 - a row of the table above
) -> None:
    found = cut_of({"rows": ITEMS, "next": "abc"})

    def fits(one: dict[str, Any]) -> bool:
        return accepted or one.get("next") is None

    value, said = rest(found, fits, resume)
    assert value == {"rows": ITEMS[:1], "next": None}
    assert "is removed" in said


NAMES = st.sampled_from(["rows", "next", "cursor", "nextCursor", "info", "total", "page"])
LEAVES = st.none() | st.integers(0, 9) | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES | st.lists(st.text(min_size=5, max_size=9), min_size=2, max_size=8),
    lambda inner: st.dictionaries(NAMES, inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES, max_size=5), st.integers(5, 60))
def test_without_flags_nothing_but_cursors_is_touched(value: Any, limit: int) -> None:
    cut = truncate(value, limit=limit)
    if not cut.is_cut:
        return
    told, said = rest(cut, accepts)
    for path, before, after in differing(cut.value, told, ()):
        assert after is None
        assert before not in (None, "")
        assert f"“{path[-1]}” would have skipped them" in said


def differing(one: Any, other: Any, path: tuple[Any, ...]) -> list[tuple[Any, Any, Any]]:
    """Return the places where two values of the same form differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys()
        return [d for key in one for d in differing(one[key], other[key], (*path, key))]
    if isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other)
        pairs = zip(one, other, strict=True)
        return [d for index, (a, b) in enumerate(pairs) for d in differing(a, b, (*path, index))]
    return [] if one == other else [(path, one, other)]
