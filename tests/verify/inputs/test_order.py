from typing import Any

import pytest
from tests.sample_tools import READ, tool

from sayso.verify.inputs.order import Rank, needs_of, order_tools, rank_of


def named(name: str, *required: str, annotations: Any = None) -> Any:
    schema = {
        "type": "object",
        "properties": {one: {"type": "string"} for one in required},
        "required": [*required],
    }
    return tool(name, annotations, inputSchema=schema)


def test_reads_come_first_and_again_after_creating_and_removing_comes_last() -> None:
    tools = [
        named("delete_note", "note_id"),
        named("update_note", "note_id", "title"),
        named("get_note", "note_id"),
        named("create_note", "title"),
        named("list_notes"),
    ]

    assert [one.name for one in order_tools(tools)] == [
        "list_notes",
        "get_note",
        "create_note",
        "list_notes",
        "get_note",
        "update_note",
        "delete_note",
    ]


def test_what_needs_an_id_is_made_after_what_gives_one() -> None:
    tools = [named("add_order", "customer_id"), named("create_customer", "name")]

    assert [one.name for one in order_tools(tools)] == ["create_customer", "add_order"]
    assert needs_of(tools[0]) == {"customer"}


def test_what_was_made_last_is_removed_first_and_everything_last() -> None:
    tools = [
        named("delete_everything"),
        named("delete_item", "item_id"),
        named("delete_tag", "tag_id"),
        named("create_item", "title"),
        named("add_tag", "item_id"),
    ]

    ordered = [one.name for one in order_tools(tools)]

    made, removed = ["create_item", "add_tag"], ["delete_tag", "delete_item", "delete_everything"]
    assert ordered == [*made, *removed]


def test_tools_that_a_person_names_come_first_and_once() -> None:
    tools = [named("list_notes"), named("create_note"), named("login")]

    ordered = [one.name for one in order_tools(tools, ["login", "create_note", "no_such"])]

    assert ordered == ["login", "create_note", "list_notes"]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("list_notes", Rank.LIST),
        ("get_note", Rank.READ),
        ("git_commit", Rank.MAKE),
        ("write_file", Rank.CHANGE),
        ("send_email", Rank.SEND),
        ("drop_table", Rank.DESTROY),
        ("git_reset", Rank.DESTROY),
    ],
)
def test_a_tool_is_ranked_by_its_verb(name: str, rank: Rank) -> None:
    assert rank_of(named(name, "note_id")) is rank


def test_without_a_verb_what_its_server_declares_counts() -> None:
    assert rank_of(named("weather", annotations=READ)) is Rank.LIST
