"""Verdicts on single words in context: an action, hardly one, or none at all."""

from typing import Any

import pytest

from sayso.infer.certain import certainty
from sayso.infer.clauses import Reading, reading
from sayso.infer.script import is_noun


@pytest.mark.parametrize(
    "text",
    [
        "Get the notes (pre-voided notes too).",
        "Get the purge_queue setting.",
        "The user can void.",
        "Returns the ids and label color.",
        "The hosts of a user are permitted.",
        "Notes are owned by users.",
        "Get the note. It can be frobbed.",
        "Get the notes by listing them.",
        "Get the notes, meeting.",
        "Get the notes ugly or badly.",
        "Get the number of labels set.",
        "A queue of posts.",
        "The page lists new posts.",
        "Runs the describe command.",
        "Runs a read-only query",
        "Get the note instead of its text.",
        "Get the policies and categories.",
    ],
)
def test_what_is_no_action_leaves_a_read_certain(text: str) -> None:
    assert reading(text) == Reading()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Get the note and purge_queue.", Reading(doubt="purge_queue")),
        ("Get the note and set note_text.", Reading(doubt="set")),
        ("It builds one big old dusty orange oaken table.", Reading(writes=("builds",))),
        ("Get the note (set x=1).", Reading(doubt="set")),
        ("Get the note. The user can delete a label.", Reading(writes=("delete",))),
        ("Get the notes people update a label.", Reading(unsure="update")),
        ("Get the notes; will map a label.", Reading(doubt="map")),
        ("Lists notes (indexing, mapping).", Reading(doubt="indexing")),
        ("Lists notes, adding, mapping.", Reading(doubt="adding")),
        ("List the notes, frobbling.", Reading(doubt="frobbling")),
        ("Get the note. This can be deleted.", Reading(doubt="deleted")),
        ("Never lists notes except drafts.", Reading(doubt="except")),
        ("Get the note and auto-purge.", Reading(unsure="auto-purge")),
        ("Get the note and pre-void the rest.", Reading(unsure="pre-void")),
        ("Get the number of rows removed.", Reading(unsure="removed")),
        ("The token stops working.", Reading(unsure="stops", denies=True, loss="stops working")),
        ("Get the number of rows added.", Reading()),
        ("Get the notes. It charges extra.", Reading(writes=("charges",))),
        ("Runs a check and a purge of the rest.", Reading(writes=("runs",))),
    ],
)
def test_what_may_be_an_action_is_named(text: str, expected: Reading) -> None:
    assert reading(text) == expected


@pytest.mark.parametrize(
    ("name", "is_certain"),
    [
        ("get_note", True),
        ("list_note_voids", True),
        ("check_note_voids", True),
        ("list_and_void", False),
        ("get_note_and_voids", False),
        ("void_note", False),
    ],
)
def test_a_verb_in_a_name_counts_where_it_may_be_one(name: str, *, is_certain: bool) -> None:
    tool: dict[str, Any] = {"name": name, "description": "Get the notes."}

    assert certainty(tool).is_certain is is_certain


@pytest.mark.parametrize("word", ["policy", "policies", "city", "cities", "duties", "availability"])
def test_a_noun_is_one_in_the_plural_too(word: str) -> None:
    assert is_noun(word)


def test_a_verb_in_front_of_a_read_is_the_noun_that_is_read() -> None:
    lists, voids = (
        certainty({"name": name, "description": "Get the notes."})
        for name in ("helm_list", "helm_void")
    )

    assert lists.may_read
    assert not voids.may_read
