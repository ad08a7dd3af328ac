"""Findings about a contradictory intent."""

import pytest
from tests.intent.strategies import hints

from sayso.intent import PRESETS, Finding, Hints, Intent, contradictions


def codes(intent: Intent) -> list[str]:
    return [one.code for one in contradictions(intent)]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_does_not_contradict_itself(name: str) -> None:
    assert contradictions(PRESETS[name]) == ()


def test_read_only_and_destructive_is_a_contradiction() -> None:
    message = "declared read-only and destructive; treated as destructive"

    assert contradictions(Intent(Hints(read_only=True, destructive=True))) == (
        Finding("read-only-destructive", message, "destructive"),
    )


@pytest.mark.parametrize("row", ["FTFT", "-TFT", "F---", "----"])
def test_what_is_not_read_only_may_destroy_confirm_and_plan(row: str) -> None:
    intent = Intent(hints(row), confirm="Delete it?", plan=print)

    assert contradictions(intent) == ()


def test_a_read_only_tool_may_be_declared_not_idempotent_since_that_means_nothing_there() -> None:
    assert contradictions(Intent(Hints(read_only=True, idempotent=False))) == ()


def test_a_read_only_tool_has_nothing_to_confirm() -> None:
    assert contradictions(Intent(Hints(read_only=True), confirm="Sure?")) == (
        Finding("read-only-confirms", "declared read-only, but has a confirmation text"),
    )


def test_a_read_only_tool_has_no_change_to_plan() -> None:
    assert contradictions(Intent(Hints(read_only=True), plan=print)) == (
        Finding("read-only-plans", "declared read-only, but has a plan"),
    )


@pytest.mark.parametrize(
    ("field", "code"),
    [("scopes", "empty-scope"), ("roles", "empty-role"), ("tags", "empty-tag")],
)
@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_a_scope_role_or_tag_needs_a_name(field: str, code: str, blank: str) -> None:
    finding = contradictions(Intent().but(**{field: ["named", blank]}))

    assert finding == (Finding(code, f"{field} contains an empty name"),)
    assert contradictions(Intent().but(**{field: ["named"]})) == ()


def test_everything_that_is_wrong_is_said_at_once() -> None:
    intent = Intent(
        Hints(read_only=True, destructive=True),
        scopes=frozenset({""}),
        roles=frozenset({""}),
        tags=frozenset({""}),
        confirm="Sure?",
        plan=print,
        dry_run="dryRun",
    )

    assert codes(intent) == [
        "read-only-destructive",
        "read-only-confirms",
        "read-only-plans",
        "read-only-plans",
        "empty-scope",
        "empty-role",
        "empty-tag",
    ]


def test_a_finding_as_data_names_its_hint_where_it_has_one() -> None:
    assert Finding("a-code", "what is wrong").to_dict() == {
        "code": "a-code",
        "message": "what is wrong",
    }
    assert Finding("a-code", "what is wrong", "open_world").to_dict() == {
        "code": "a-code",
        "message": "what is wrong",
        "hint": "open_world",
    }
