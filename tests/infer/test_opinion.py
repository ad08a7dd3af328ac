"""A second opinion: what is asked, what an answer may be, and what it may change."""

import json
from pathlib import Path
from typing import Any

import pytest

from sayso.errors import UsageError
from sayso.infer.opinion import Opinion, join, opinion_of, question, rules, understand
from sayso.intent import DOUBT, HINT_NAMES, Guess, HintName

TOOL = {"name": "note_get", "description": "Get a note.", "inputSchema": {"type": "object"}}


def says(**hints: bool) -> Opinion:
    return Opinion({name: hints.get(name) for name in HINT_NAMES}, "as it reads")


def guessed(confidence: float = 0.95, **hints: bool) -> dict[HintName, Guess]:
    return {
        name: Guess(hints[name], confidence, ("a word",)) for name in HINT_NAMES if name in hints
    }


def values(found: dict[HintName, Guess]) -> dict[str, bool]:
    return {name: one.value for name, one in found.items()}


def test_the_rules_are_those_of_the_documents() -> None:
    page = Path(__file__).resolve().parents[2] / "training" / "JUDGING.md"

    assert rules() == page.read_text(encoding="utf-8")


def test_a_question_holds_the_rules_and_the_tool_and_is_not_without_end() -> None:
    long = {**TOOL, "description": "x" * 10**6, "inputSchema": {"properties": {"y" * 10**6: {}}}}

    assert rules() in question(TOOL)
    assert '"note_get"' in question(TOOL)
    assert len(question(long)) < len(rules()) + 15_000


@pytest.mark.parametrize(
    ("first", "second", "then"),
    [
        ({"read_only": True}, {"read_only": True}, {"read_only": True}),
        ({"read_only": True}, {"read_only": False}, {"read_only": False}),
        ({"read_only": True}, {}, {}),
        ({}, {"read_only": True}, {}),
        ({}, {"read_only": False}, {"read_only": False}),
        ({"destructive": True}, {"destructive": False}, {"destructive": True}),
        ({"destructive": False}, {"destructive": False}, {"destructive": False}),
        ({"destructive": False}, {"destructive": True}, {"destructive": True}),
        ({"idempotent": True}, {"idempotent": False}, {"idempotent": False}),
        ({"open_world": False}, {"open_world": True}, {"open_world": True}),
        (
            {"read_only": True},
            {"read_only": True, "destructive": True, "idempotent": False},
            {"read_only": True},
        ),
    ],
)
def test_the_looser_value_counts_where_both_say_so_and_the_stricter_from_either(
    first: dict[str, bool], second: dict[str, bool], then: dict[str, bool]
) -> None:
    assert values(join(guessed(**first), says(**second))) == then


def test_agreement_makes_surer_and_gives_both_reasons() -> None:
    found = join(guessed(0.9, read_only=True), says(read_only=True))["read_only"]

    assert found == Guess(
        value=True, confidence=0.95, reasons=("a word", "the reader: as it reads")
    )


def test_a_stricter_word_of_the_reader_alone_speaks_against_a_declaration_and_no_more() -> None:
    assert join({}, says(destructive=True))["destructive"].confidence == DOUBT


def test_an_answer_is_understood_among_other_words() -> None:
    answer = 'Sure:\n```json\n{"read_only": true, "open_world": null, "why": "it lists"}\n```'

    assert understand(answer) == Opinion(
        {"read_only": True, "destructive": None, "idempotent": None, "open_world": None}, "it lists"
    )


@pytest.mark.parametrize(
    "answer",
    ["", "no", "{", "[1]", '{"read_only": "yes"}', '{"read_only": 1}', '{"destructive": 0.0}'],
)
def test_an_answer_of_another_form_is_refused(answer: str) -> None:
    with pytest.raises(UsageError, match="second opinion"):
        understand(answer)


def test_whatever_a_reader_answers_is_understood_or_refused() -> None:
    for one in ('{"why": 5}', json.dumps({"why": "w" * 10_000}), '{"x": {}}'):
        assert len(understand(one).why) <= 300
    deep: Any = "[" * 100_000
    with pytest.raises(UsageError):
        understand("{" + deep + "}")


def test_a_tool_without_texts_is_asked_about_as_it_is() -> None:
    assert '{"name": "bare"}' in question({"name": "bare"})


@pytest.mark.parametrize("raw", [None, [], "text", 5])
def test_what_is_no_object_is_no_opinion(raw: object) -> None:
    with pytest.raises(UsageError, match="second opinion"):
        opinion_of(raw)


def test_an_opinion_as_data_is_read_back_as_it_was() -> None:
    one = says(read_only=True, open_world=False)

    assert opinion_of(json.loads(json.dumps(one.to_dict()))) == one
