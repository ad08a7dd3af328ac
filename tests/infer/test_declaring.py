"""Hints to declare for a tool: inferred ones, and the rest that are required."""

from typing import Any

import pytest

from sayso.infer import completed, guess, is_unsafe_to_repeat, undeclared
from sayso.intent import HintName


def tool(name: str, description: str = "", **annotations: bool) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}},
        "annotations": annotations,
    }


def written(one: dict[str, Any]) -> dict[HintName, bool]:
    return {name: hint.value for name, hint in completed(one, undeclared(one, guess(one))).items()}


def test_a_read_declares_what_has_a_meaning_and_what_stores_require() -> None:
    assert written(tool("list_notes", "List all notes.")) == {
        "read_only": True,
        "destructive": False,
        "open_world": False,
    }


def test_what_nothing_speaks_for_gets_the_default() -> None:
    one = tool("search_web", "Search the web for pages.")
    hints = completed(one, undeclared(one, guess(one)))

    assert hints["open_world"].value is True
    assert hints["open_world"].reasons == (
        "nothing says otherwise, so this is the specification's default",
    )


def test_what_is_declared_stays_and_speaks_for_the_rest() -> None:
    assert written(tool("list_notes", "List all notes.", destructiveHint=True)) == {
        "read_only": False,
        "idempotent": False,
        "open_world": False,
    }
    assert written(tool("zq", readOnlyHint=True, openWorldHint=False)) == {"destructive": False}
    assert written(tool("zq", openWorldHint=False)) == {
        "read_only": False,
        "destructive": True,
        "idempotent": False,
    }


def test_a_tool_of_which_nothing_is_known_stays_as_it_is() -> None:
    assert written({"name": "zq"}) == {}


@pytest.mark.parametrize(
    ("name", "description", "is_idempotent"),
    [
        ("delete_note", "Delete a note.", False),
        ("delete_note", "Delete a note. Idempotent.", True),
        ("delete_note", "Delete a note. It is safe to retry.", True),
        ("delete_note", "Delete a note. Calling it again changes nothing.", True),
        ("delete_note", "Delete a note. This is not idempotent.", False),
        (
            "delete_note",
            "Delete a note. It is idempotent, but cannot and must not be retried.",
            False,
        ),
        ("delete_note", "Delete a note. Non-idempotent.", False),
        ("update_note", "Replace the text of a note.", True),
    ],
)
def test_a_delete_is_idempotent_only_where_its_text_says_so(
    name: str,
    description: str,
    is_idempotent: bool,  # noqa: FBT001 - a row of the table
) -> None:
    hints = written(tool(name, description))
    assert (hints["destructive"], hints["idempotent"]) == (True, is_idempotent)


@pytest.mark.parametrize(
    ("one", "is_unsafe"),
    [
        ({"name": "sweep", "description": "Deletes all notes."}, True),
        ({"name": "sweep", "description": "Tidies up."}, False),
        ({"name": "sweep", "description": "..."}, False),
        ({"name": 7, "description": None}, False),
        ({"name": "note_purge"}, True),
    ],
)
def test_deletes_are_known_by_name_or_first_word(
    one: dict[str, Any],
    is_unsafe: bool,  # noqa: FBT001 - a row of the table
) -> None:
    assert is_unsafe_to_repeat(one) is is_unsafe
