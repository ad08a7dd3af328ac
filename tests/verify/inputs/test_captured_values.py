import json
from typing import Any

from sayso.verify.inputs.captured_values import CapturedValues
from sayso.verify.inputs.roles import Meaning, Role


def text(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}]}


def test_an_id_in_a_list_is_known_by_what_the_list_is_of() -> None:
    harvest = CapturedValues()
    harvest.add(
        "overview",
        {"structuredContent": {"customers": [{"id": 7, "name": "Ada"}], "orders": [{"id": 9}]}},
    )

    assert harvest.values("customer_id") == (7, "Ada")
    assert harvest.values("customerId")[0] == 7
    assert harvest.values("order_id") == (9,)
    assert harvest.values("id", "get_order") == (9,)
    assert harvest.values(Meaning(Role.NAME, "customer")) == ("Ada",)


def test_a_list_without_a_name_is_of_what_its_tool_lists() -> None:
    harvest = CapturedValues()
    harvest.add("list_notes", text(json.dumps([{"id": "n-1", "title": "First"}])))

    assert harvest.values("note_id")[0] == "n-1"
    assert harvest.found[0].tool == "list_notes"


def test_the_exact_key_counts_before_an_id_of_the_same_kind() -> None:
    harvest = CapturedValues()
    harvest.add("list_orders", {"structuredContent": {"customer_id": 3, "customer": {"id": 4}}})

    assert harvest.values("customer_id") == (3, 4)


def test_plain_lines_of_text_give_what_they_name() -> None:
    harvest = CapturedValues()
    lines = (
        "Created note: weekly plan",
        "ID: 42",
        "commit 31f4136bcb4a43f4f7519eb6c41c2bf10c745679",
        "see https://example.com/x and /world/notes.txt",
        "[DIR] docs",
        "[FILE] a b.txt",
        "issue #12 is open",
    )
    harvest.add("note_add", text("\n".join(lines)))

    assert 42 in harvest.values("id", "note_get")
    assert harvest.values(Role.REF) == ("31f4136bcb4a43f4f7519eb6c41c2bf10c745679",)
    assert harvest.values(Role.URL) == ("https://example.com/x",)
    assert harvest.values(Role.FILE) == ("/world/notes.txt",)
    assert harvest.values("issue_id") == (12,)
    assert {one.value for one in harvest.found if one.key == "directory"} == {"docs"}


def test_what_came_last_comes_first() -> None:
    harvest = CapturedValues()
    for number in (1, 2):
        harvest.add("create_note", {"structuredContent": {"note": {"id": number}}})

    assert harvest.values("note_id") == (2, 1)


def test_values_of_one_place_are_bounded() -> None:
    harvest = CapturedValues()
    for number in range(500):
        harvest.add("create_note", {"structuredContent": {"id": number}})

    assert len(harvest.found) <= 30
    assert harvest.values("note_id")[0] == 499


def test_broken_and_large_results_do_no_harm() -> None:
    harvest = CapturedValues()
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    for result in (
        {"content": "no list"},
        {"content": [None, {"text": 5}]},
        {"structuredContent": deep},
        text("{broken"),
        text("[" * 100_000),
        text("x" * 1_000_000),
        {"structuredContent": {"a": None, "b": True, "c": "", "d": "y" * 5000}},
    ):
        harvest.add("odd", result)

    assert len(harvest.found) <= 1


def test_what_a_tool_made_is_known_to_the_others_by_its_arguments() -> None:
    kept = CapturedValues()
    kept.use("register_project", {"name": "atlas", "file_name": "a.txt"})
    kept.use("read_page", {"file_name": "b.txt"})
    assert kept.values("project", "index_code") == ("atlas",)
    assert kept.made("file_name") == ("a.txt",)
