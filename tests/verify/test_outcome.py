"""Whether a call went well, told from what came back."""

from typing import Any

import pytest

from sayso.connect import Fault, RpcError
from sayso.verify.call import Outcome
from sayso.verify.observe.output import difference, normalise
from sayso.verify.outcome import outcome_of, outcome_of_error


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


@pytest.mark.parametrize(
    "text",
    [
        "Error: no such file",
        "An error occurred while reading",
        "❌ Failed to open",
        "Could not find the note",
        "couldn't open it",
        "Traceback (most recent call last):",
        "fatal: not a git repository",
        "Access denied - path outside allowed directories",
        "Invalid arguments",
        "Document a.docx does not exist",
        "Text 'x' not found in document",
        "Must provide either id or name",
        '{"valid": false, "message": "Document a.docx does not exist"}',
        '{"error": "not found"}',
        '{"success": false, "message": "no"}',
        '{"status": "error"}',
    ],
)
def test_text_that_begins_as_a_failure_is_one_whatever_the_flag_says(text: str) -> None:
    assert outcome_of(said(text)) is Outcome.TOOL_ERROR
    assert outcome_of(said(text, isError=False)) is Outcome.TOOL_ERROR


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3 notes",
        "No matches were seen",
        "A long report.\nThe file was not found in 2 of 3 folders.",
        '{"a": 1, "b": 2, "c": 3, "message": "it is not set", "e": 4}',
        "no errors were found",
        "The errors of last week: 3",
        '{"errors": 0, "ok": true}',
        '{"error": null, "rows": []}',
        '{"error": "E1", "a": 1, "b": 2, "c": 3, "d": 4}',
        "{broken",
    ],
)
def test_other_text_is_a_success(text: str) -> None:
    assert outcome_of(said(text)) is Outcome.SUCCESS


@pytest.mark.parametrize(
    "result",
    [{}, {"content": "text"}, {"content": [1, None, {"text": 3}]}, {"structuredContent": [1]}],
)
def test_a_result_of_any_shape_is_read(result: dict[str, Any]) -> None:
    assert outcome_of(result) is Outcome.SUCCESS


def test_what_the_result_says_of_itself_counts() -> None:
    assert outcome_of(said("fine", isError=True)) is Outcome.TOOL_ERROR
    assert outcome_of({"resultType": "input_required"}) is Outcome.TOOL_ERROR
    told = {"structuredContent": {"result": "Error: nothing there"}}
    assert outcome_of(told) is Outcome.TOOL_ERROR


def test_without_a_result_the_fault_says_how_it_ended() -> None:
    assert outcome_of_error(RpcError(-32602, "bad")) is Outcome.PROTOCOL_ERROR
    assert outcome_of_error(RpcError.none(Fault.TIMED_OUT, "late")) is Outcome.TIMEOUT
    assert outcome_of_error(RpcError.none(Fault.LOST, "gone")) is Outcome.DIED


def test_times_and_identifiers_of_chance_are_no_difference() -> None:
    one = said("at 2026-01-02T03:04:05Z, 6f1c2a34-0000-4000-8000-1234567890ab in 12 ms")
    other = said("at 2027-05-06 07:08:09, 0a1b2c3d-0000-4000-8000-ba0987654321 in 7 ms")
    assert difference(one, other) == ""
    assert normalise("3 notes") == "3 notes"


def test_what_differs_is_told_in_a_few_lines() -> None:
    assert difference(said("a\nb"), said("a\nc")) == "-b\n+c"
    assert "7" in difference({"structuredContent": {"n": 3}}, {"structuredContent": {"n": 7}})
