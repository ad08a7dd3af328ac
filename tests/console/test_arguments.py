"""Arguments as rows: whole, readable, and in their order."""

import pytest

from sayso.console.arguments import PlanTable, argument_rows, in_short, plan_table


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("Amy", "text", "Amy"),
        ("", "empty text", ""),
        ("•••", "secret, masked", "•••"),
        (41, "number", "41"),
        (0.5, "number", "0.5"),
        (True, "true or false", "true"),
        (None, "null", "null"),
        ([], "list of 0", "[]"),
        ({"å": [1]}, "object of 1", '{"å": [1]}'),
        ({"long": "x" * 60}, "object of 1", '{\n  "long": "' + "x" * 60 + '"\n}'),
        ("41", "text", "41"),
    ],
)
def test_each_kind_of_value_is_named(value: object, kind: str, text: str) -> None:
    (row,) = argument_rows({"a": value})

    assert (row.name, row.kind, row.text, row.start) == ("a", kind, text, "")


def test_rows_keep_the_order_in_which_arguments_were_sent() -> None:
    assert [row.name for row in argument_rows({"b": 1, "a": 2})] == ["b", "a"]


@pytest.mark.parametrize(
    ("value", "size"),
    [("x" * 4812, "4,812 characters"), ("x\n" * 20, "40 characters, 21 lines")],
)
def test_a_long_value_is_folded_and_not_cut(value: str, size: str) -> None:
    (row,) = argument_rows({"a": value})

    assert row.text == value
    assert row.size == size
    assert row.start.endswith("…")
    assert len(row.start) <= 81


def test_no_arguments_make_no_rows() -> None:
    assert argument_rows({}) == []


def test_in_short_a_secret_stays_masked_and_what_is_long_is_clipped() -> None:
    shown = in_short({"key": "•••", "text": "a\n" * 90, "ids": [1, 2], "more": "x" * 60})

    assert shown.startswith("key •••, text “a a a")
    assert len(shown) == 80
    assert shown.endswith("…")


def test_a_plan_of_objects_has_a_column_for_each_thing_that_they_say() -> None:
    changes = [{"action": "delete", "target": "a"}, {"action": "set", "after": {"n": 1}}]
    assert plan_table({"changes": changes, "total": 2}) == PlanTable(
        ("action", "target", "after"), (("delete", "a", ""), ("set", "", '{"n": 1}'))
    )


@pytest.mark.parametrize(
    "changes", [["text", {"a": 1}], [{}], [dict.fromkeys("abcdefg", 1)], ["delete customer 3"]]
)
def test_a_plan_of_anything_else_has_one_text_for_each_change(changes: list[object]) -> None:
    table = plan_table({"changes": changes, "total": len(changes)})
    assert table.columns == ()
    assert [len(row) for row in table.rows] == [1] * len(changes)
