"""Predicates of things: harmless ones and figurative ones."""

import pytest

from sayso.infer.predicates import figurative


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("the slot is up for grabs", "up"),
        ("the table is given to the next guest", "given"),
        ("it is on the shelf no more", "more"),
        ("each lands in the mailbox", "lands"),
        ("the inbox breathes freely again", "breathes"),
        ("the old one makes place for yours", "makes"),
        ("the money finds a new home", "finds"),
        ("rows . visitors breathe out loud", "breathe"),
        ("rows ; visitors find a hole", "find"),
        ("the cupboard is bare", "bare"),
        ("the cupboard is then really bare", "bare"),
        ("get the seat and let go of it", "let"),
        ("show the idle ones the exit", "show"),
    ],
)
def test_what_is_not_plain_is_named(text: str, word: str) -> None:
    assert figurative(text.split()) == word


@pytest.mark.parametrize(
    "text",
    [
        "",
        "get a note",
        "the response lists all notes",
        "the list contains ids",
        "there is no more than one",
        "results are given in order",
        "this tool is ideal here",
        "the field is empty",
        "the queries are numbers",
        "the id is",
        "the value is 3",
        "the note is being read",
        "the notes , newest first",
        "the notes of all users in the open groups of a large project",
        "each class of notes",
        "all notes with links",
        "its links and pages",
        "the page lists new posts .",
        "the cluster nodes group",
        "it builds a table",
        "rows . newest first",
        "rows . returns ids",
        "show me the notes",
        "show the notes of the user",
        "show the notes",
        "show the notes 3",
        "show the long and old notes",
        "show all open old red big new notes here there",
    ],
)
def test_what_descriptions_say_of_results_is_plain(text: str) -> None:
    assert figurative(text.split()) is None
