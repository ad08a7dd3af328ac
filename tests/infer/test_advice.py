"""Texts of reads that name other actions: advice, names, conditions, denials; and real effects."""

from typing import Any

import pytest

from sayso.infer import guess
from sayso.infer.certain import certainty
from sayso.infer.clauses import reading


@pytest.mark.parametrize(
    "text",
    [
        "Get the note. Use this before creating another note.",
        "Get the note. Useful when you need to summarize the outcome.",
        "Get the note.\n\nWhen to use:\n- Drafting an answer\n- When the user wants to edit a note",
        "Get guidance on how to delete a note.",
        "Get best practices for creating notes.",
        "Get the note of an owner, with its labels, scores and prefixes.",
        "Lists the notes of the Slack workspace. Sorted by the Stripe customer.",
        "Gets the note. Confirm the choice with the user.",
        "Get the note. Returns its title, author and\nissue, and the number of labels that it has.",
        "Get the note. Raises a ValueError if there is none.",
        "Get the note. Nothing is billed or saved.",
        "Get the note. No file is written.",
        "Get the notes that are flagged.",
        "Get the rule by which it is decided when notes are deleted.",
        "List who wrote and edited the note.",
        "Get the notes. Values are rounded, and names are prefixed.",
        "Get the note. Read-only. Adds the name of its author.",
        "Get the note. It is suitable for people who create notes.",
        "Get the note. You should use it before deleting a note.",
        "Get the note. Nothing is marked as read.",
        "Get the note. Call this first.",
        "Get the note. Call the tool notes_list first.",
        "Get the note. Get started with the notes.",
        "Get the note with timing the text.",
        "Get the note. Set limit to 5.",
        "Get the note. The default is 5; set limit to 1 for less.",
    ],
)
def test_what_others_do_and_what_is_denied_does_not_block_a_read(text: str) -> None:
    assert reading(text, "get_note").may_read


@pytest.mark.parametrize(
    "text",
    [
        "Get the note. Use this to delete a note.",
        "Get the note. If the note is old, it is removed.",
        "Get the note. Breaks the lock.",
        "Get the note and mark it as read.",
        "Get the notes. Listed notes count as seen.",
        "Get the note. It is marked as read.",
        "Get the notes, which are hidden for 30 seconds.",
        "Get the note. Unknown authors are added to the address book.",
        "Get the note and download it to a folder.",
        "Get the note. The file is saved to disk.",
        "Get the notes. Purge old notes.",
        "Get the note. Read-only. The note is deleted.",
        "Get the note and Void them.",
        "Get the note. This tool is recommended before you delete a note.",
        "Get the note.\n\nTips:\n  about drafts\n- Delete notes\n- Purge notes",
        "Get the note. Entries are truncated.",
        "Get the note.\n\nTips:\n- Keep it\n- Purge notes",
        "Get the note.\n\n- Keep it\n- Purge notes\n",
    ],
)
def test_an_effect_of_the_call_blocks_a_read(text: str) -> None:
    assert not reading(text, "get_note").may_read


def test_a_product_in_a_name_is_no_action_but_a_verb_is() -> None:
    text = "Brave local search provides places."

    assert reading(text, "brave_local_search").may_read
    assert not reading("Page the engineer.", "page_search").may_read


@pytest.mark.parametrize(
    ("name", "may_read"),
    [
        ("get_delete_protection", True),
        ("acme_get_oncall_shift", True),
        ("brave_web_search", True),
        ("generate_types", True),
        ("get_and_delete_note", False),
        ("void_note_search", False),
    ],
)
def test_a_verb_in_a_name_may_be_a_noun_beside_a_read(name: str, *, may_read: bool) -> None:
    tool: dict[str, Any] = {"name": name, "description": "Get the notes."}

    assert certainty(tool).may_read is may_read


def test_a_long_name_is_quoted_in_part() -> None:
    found = guess({"name": "get_" + "x" * 90, "description": "Deletes notes."})

    assert any("x…" in reason for reason in found["read_only"].reasons)
