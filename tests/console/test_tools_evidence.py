"""What is said of a hint, which of it counts, and why."""

from typing import Any

import pytest

from sayso.catalog import Tool, make_tool
from sayso.console.tools.evidence import HintEvidence, evidence_rows
from sayso.intent import Evidence, Verdict
from sayso.policy import Policy, load_policy, seen_under


def rows(raw: dict[str, Any], policy: Policy | None = None) -> dict[str, HintEvidence]:
    under = policy or Policy()
    tool = seen_under(under, make_tool("s", {"name": "thing", **raw}))
    return {one.name: one for one in evidence_rows(tool, under)}


def annotated(**hints: bool) -> dict[str, Any]:
    return {"annotations": hints}


TRUSTED = load_policy('[trust]\ns = "trusted"\n')
UNTRUSTED = load_policy('[trust]\ns = "untrusted"\n')
CAREFUL = load_policy("threshold = 1.0\n")
OPERATOR = load_policy("[operator.s.thing]\nread_only = true\n")


@pytest.mark.parametrize(
    ("raw", "policy", "hint", "answer", "why"),
    [
        ({}, None, "Destructive", "yes", "No source decides"),
        (annotated(readOnlyHint=True), None, "Read-only", "yes", "nothing contradicts it"),
        (annotated(readOnlyHint=True), TRUSTED, "Read-only", "yes", "trusts this server"),
        (annotated(readOnlyHint=True), UNTRUSTED, "Read-only", "no", "does not trust this server"),
        (annotated(readOnlyHint=True), None, "Idempotent", "yes", "has no effect"),
        (annotated(readOnlyHint=False), None, "Read-only", "no", "stricter value always counts"),
        (annotated(destructiveHint=True), None, "Read-only", "no", "so it does not only read"),
        ({}, OPERATOR, "Read-only", "yes", "The policy sets this hint, which is final."),
        ({"name": "delete_all"}, None, "Destructive", "yes", "contradicts the looser value"),
        ({"name": "list_things"}, None, "Read-only", "yes", "confident enough (at least 0.98)"),
        ({"name": "list_things"}, CAREFUL, "Read-only", "no", "not confident enough (below 1.00)"),
    ],
)
def test_the_reason_is_told(
    raw: dict[str, Any], policy: Policy | None, hint: str, answer: str, why: str
) -> None:
    row = rows(raw, policy)[hint]

    assert row.answer == answer, row
    assert why in row.why, row
    assert row.verified == "not verified"


@pytest.mark.parametrize(
    ("verdict", "answer", "shown", "why"),
    [
        ("supported", "yes", "yes: supported", "A signed receipt supports it."),
        ("refuted", "no", "no: refuted", "A signed receipt refutes the looser value."),
        ("not_exercised", "no", "not tried", "No source decides"),
    ],
)
def test_a_receipt_shows_as_soon_as_there_is_one(
    monkeypatch: pytest.MonkeyPatch, verdict: Verdict, answer: str, shown: str, why: str
) -> None:
    told = Evidence(verdicts={"read_only": verdict})
    monkeypatch.setattr(Tool, "evidence", property(lambda _: told))

    row = rows({})["Read-only"]

    assert (row.answer, row.verified) == (answer, shown)
    assert why in row.why
