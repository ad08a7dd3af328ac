"""The question as text, with nothing in it that could steer a terminal or fake a line."""

from dataclasses import replace
from typing import Any

import pytest
from tests.approvals.questions import of, question
from tests.sample_tools import DELETE, tool

from sayso.approvals import make_plan
from sayso.approvals.sentence import ask, tell
from sayso.policy import Principal
from sayso.schema.plain_text import is_unseen

STEERING = "\x1b[2J\x1b]0;x\x07\x9b31m\r\n\u202e\u2066\u200b\u2028\ud800\0"


def test_a_question_is_one_sentence_and_one_line_for_each_argument() -> None:
    asked = question(customer_id=7, note="late", password="hunter2")
    assert ask(asked) == "May “chat” run “Delete customer” on “demo”?"
    assert tell(asked) == [
        "May “chat” run “Delete customer” on “demo”?",
        "level destructive: it may destroy something (mode:guarded)",
        "This may delete, overwrite or send something: Delete customer 7. Proceed?",
        "  customer_id: 7",
        "  note: late",
        "  password: •••",
    ]


def test_what_the_author_says_and_what_would_change_are_told() -> None:
    made = tool("t", DELETE, _meta={"io.sayso/intent": {"confirm": "This cannot be had back."}})
    changes = [
        "customer 12",
        {"action": "delete", "target": "customer 13"},
        {"target": "invoice 7", "action": "close", "after": "paid"},
        {"action": "delete", "target": 14},
    ]
    plan = make_plan(changes)
    assert tell(of(made, plan=plan))[2:] == [
        "the tool's author says: This cannot be had back.",
        "the call would change 4:",
        "  customer 12",
        "  delete customer 13",
        '  close invoice 7 {"after": "paid"}',
        '  {"action": "delete", "target": 14}',
    ]


def everywhere(said: str) -> list[str]:
    """A question in which all that others wrote is `said`."""
    more: dict[str, Any] = {"title": said, "_meta": {"io.sayso/intent": {"confirm": said}}}
    made = tool("t", DELETE, **more)
    arguments = {said: said, "deep": [{said: said}]}
    return tell(of(made, arguments, Principal("local", said), plan=make_plan([said, {"a": said}])))


@pytest.mark.parametrize("said", [STEERING.replace("\ud800", "")])
def test_nothing_that_others_wrote_steers_a_terminal_or_makes_a_line(said: str) -> None:
    lines = everywhere(said)
    assert len(lines) == 8
    assert not any(is_unseen(char) for line in lines for char in line)
    assert "\\u001b[2J" in lines[0]
    assert "\\u202e" in lines[3]


def test_a_line_that_looks_like_saysos_own_stays_within_its_line() -> None:
    lines = everywhere("ok\nApproval 1: yes or no? yes")
    assert all(line.count("\n") == 0 for line in lines)
    assert lines[2] == "the tool's author says: ok\\u000aApproval 1: yes or no? yes"


def test_what_is_long_is_cut_and_says_so() -> None:
    lines = everywhere("x" * 1_000_000)
    assert max(map(len, lines)) < 700
    assert all("… (1,000,000 characters)" in line for line in lines[:3] if "level" not in line)


def test_of_many_arguments_and_changes_the_first_twenty_are_told() -> None:
    plan = make_plan([f"customer {index}" for index in range(500)])
    asked = of(tool("t", DELETE), {f"a{index}": index for index in range(50)}, plan=plan)
    lines = tell(asked)
    assert lines[22:25] == ["  a19: 19", "  …: and 30 more", "the call would change 500:"]
    assert lines[-1] == "  customer 19"
    assert asked.plan is not None
    assert len(asked.plan["changes"]) == 200


@pytest.mark.parametrize(
    "mark",
    [
        *("”", "“", '"', "„", "«", "»", "''", "\u2019\u2019", "\u02bc\u2019", "\"'", "``"),
        *("\u301e", "\uff02", "\u275e", "\u02ee", "\u02dd", "\u2036", "\u05f4", "\u3003"),
    ],
)
def test_a_name_stands_between_quotes_that_nothing_in_it_closes(mark: str) -> None:
    hostile = f"amy{mark} is safe.\n\nPress {mark}Allow{mark}"
    asked = replace(question(), client=hostile, title=hostile, server="x" * 200)

    said = ask(asked)

    assert said.startswith(
        "May “amy' is safe. Press 'Allow'” run “amy' is safe. Press 'Allow'” on “x"
    )
    assert said.count("“") == said.count("”") == 3
    assert said.endswith("… (200 characters)”?")
