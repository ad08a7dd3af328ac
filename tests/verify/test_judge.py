"""What is said of a hint, given the effects of calls."""

from dataclasses import replace
from typing import Any

import pytest

from sayso.catalog import Tool, make_tool
from sayso.intent import HINT_NAMES, HintName
from sayso.trace.effect import Blob, Effect, Kind, Life, Loss, Observer
from sayso.verify.call import Case, MadeCall, Outcome
from sayso.verify.judge import Confirmed, Profile, ToolEvidence, judge, suspects

ALL = frozenset({"syscalls", "files", "sqlite", "output"})
WRITTEN = Effect(Kind.WRITE, "/kept/a.txt", Observer.FILES, life=Life.USER)
GONE = replace(WRITTEN, kind=Kind.DELETE, loss=Loss.LOST)
TRIED = Effect(
    Kind.CONNECT, "203.0.113.7:443", Observer.SYSCALLS, life=Life.EXTERNAL, is_failed=True
)
READS = {"readOnlyHint": True, "openWorldHint": False}
KEEPS = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True}


def tool(annotations: dict[str, bool], name: str = "t") -> Tool:
    schema = {"type": "object"}
    return make_tool("s", {"name": name, "inputSchema": schema, "annotations": annotations})


def made(
    *effects: Effect,
    outcome: Outcome = Outcome.SUCCESS,
    number: int = 1,
    arguments: dict[str, Any] | None = None,
    classes: frozenset[str] = frozenset(),
) -> MadeCall:
    return MadeCall(number, "t", Case(arguments or {}, classes), outcome, effects=effects)


def evidence(given: Tool, *calls: MadeCall, **more: Any) -> ToolEvidence:
    return ToolEvidence(given, calls, observers=more.pop("observers", ALL), **more)


def verdict(given: ToolEvidence, name: HintName) -> tuple[str, str]:
    found = judge(given)[name]
    return found.verdict, found.reason


def test_a_read_that_changes_what_somebody_keeps_is_suspected_also_when_it_errs() -> None:
    for outcome in Outcome:
        call = made(WRITTEN, outcome=outcome)
        assert suspects(evidence(tool(READS), call)) == {"read_only": call}


@pytest.mark.parametrize("life", [one for one in Life if not one.refutes_reading])
def test_what_nobody_would_miss_refutes_nothing(life: Life) -> None:
    call = made(replace(GONE, life=life))
    assert suspects(evidence(tool(READS), call)) == {}
    assert suspects(evidence(tool(KEEPS), call)) == {}


def test_the_same_bytes_written_again_leave_the_world_as_the_first_call_did() -> None:
    bytes_ = Blob("ab" * 32, 3)
    again = replace(WRITTEN, before=bytes_, after=bytes_)
    other = replace(again, after=Blob("cd" * 32, 3))
    once = made(replace(WRITTEN, kind=Kind.CREATE))
    assert suspects(evidence(tool(KEEPS), once, made(again, number=2))) == {}
    assert set(suspects(evidence(tool(KEEPS), once, made(other, number=2)))) == {"idempotent"}


def test_a_row_that_is_replaced_by_the_same_one_leaves_the_world_as_it_was() -> None:
    def row(kind: Kind, number: int, text: str, time: str) -> Effect:
        detail = f'{{"id": {number}, "text": "{text}", "created_at": "{time}"}}'
        target = f"/kept/a.db#notes/{number}"
        loss = Loss.LOST if kind is Kind.REMOVE else Loss.NONE
        return Effect(kind, target, Observer.SQLITE, life=Life.USER, detail=detail, loss=loss)

    once = made(row(Kind.INSERT, 1, "a", "2026-01-01 10:00:00"))
    gone = row(Kind.REMOVE, 1, "a", "2026-01-01 10:00:00")
    same = row(Kind.INSERT, 2, "a", "2026-01-01 10:00:01")
    other = row(Kind.INSERT, 2, "b", "2026-01-01 10:00:01")
    third = row(Kind.INSERT, 3, "a", "2026-01-01 10:00:01")
    for effects in ((gone, other), (gone, same, third), (same,)):
        found = suspects(evidence(tool(KEEPS), once, made(*effects, number=2)))
        assert "idempotent" in found
    found = suspects(evidence(tool(KEEPS), once, made(gone, same, number=2)))
    assert found == {}


def test_nothing_is_said_of_staying_where_the_server_reaches_out_without_a_call() -> None:
    anyway = replace(TRIED, life=Life.SESSION, reason="also seen without a call")
    verdict_, reason = verdict(evidence(tool(READS), made(anyway)), "open_world")
    assert verdict_ == "not_exercised"
    assert "so calls cannot be told apart" in reason


def test_a_suspicion_alone_refutes_nothing() -> None:
    given = evidence(tool(READS), made(WRITTEN), doubts={"read_only": "seen once"})
    assert verdict(given, "read_only") == ("not_exercised", "seen once")


def test_what_was_shown_again_is_refuted_with_its_evidence() -> None:
    shown = Confirmed((WRITTEN,), {"limit": 1})
    given = evidence(tool(READS), made(WRITTEN), confirmed={"read_only": shown})
    found = judge(given)["read_only"]
    assert (found.verdict, found.evidence, found.arguments) == ("refuted", (WRITTEN,), {"limit": 1})
    assert found.observers == ("files",)
    assert "write /kept/a.txt" in found.reason


def test_a_call_that_failed_supports_nothing() -> None:
    given = evidence(tool(READS), made(outcome=Outcome.TOOL_ERROR))
    assert verdict(given, "read_only") == ("not_exercised", "no call succeeded")
    assert verdict(given, "open_world") == ("not_exercised", "no call succeeded")


@pytest.mark.parametrize(
    ("outcome", "text", "reason"),
    [
        (Outcome.TOOL_ERROR, "no such\n  file", "no such file"),
        (Outcome.TIMEOUT, "", "the call took too long"),
        (Outcome.DIED, "it ended", "the server ended during the call (it ended)"),
    ],
)
def test_why_no_call_succeeded_is_told_in_one_line(
    outcome: Outcome, text: str, reason: str
) -> None:
    given = evidence(tool(READS), replace(made(outcome=outcome), text=text))
    assert given.failure == reason
    assert verdict(given, "read_only") == ("not_exercised", f"no call succeeded: {reason}")


def test_calls_that_went_well_and_changed_nothing_support_with_their_number_and_inputs() -> None:
    calls = [made(classes=frozenset({"format=csv"})), made(classes=frozenset({"format=json"}))]
    found = judge(evidence(tool(READS), *calls))["read_only"]
    assert (found.verdict, found.calls) == ("supported", 2)
    assert found.inputs == ("format=csv", "format=json")
    assert found.observers == tuple(sorted(ALL))


@pytest.mark.parametrize("missing", ["syscalls", "files"])
def test_without_an_observer_that_is_needed_nothing_is_supported(missing: str) -> None:
    given = evidence(tool(READS), made(), observers=ALL - {missing})
    found = judge(given)["read_only"]
    assert (found.verdict, found.is_partial) == ("not_exercised", True)
    assert missing in found.reason


def test_what_no_observer_can_look_into_supports_nothing() -> None:
    blind = Effect(Kind.BLIND, "io_uring_setup", Observer.SYSCALLS, life=Life.SESSION)
    assert verdict(evidence(tool(READS), made(blind)), "read_only")[0] == "not_exercised"


def test_a_connection_that_fails_speaks_against_staying_and_not_against_reading() -> None:
    call = made(TRIED)
    assert suspects(evidence(tool(READS), call)) == {"open_world": call}


@pytest.mark.parametrize(
    ("detail", "speaks"), [("GET /page", False), ("HEAD /", False), ("POST /orders", True)]
)
def test_a_request_that_changes_something_elsewhere_is_no_reading(
    detail: str, *, speaks: bool
) -> None:
    sent = Effect(Kind.SEND, "127.0.0.1:80", Observer.PROBE, detail=detail, life=Life.EXTERNAL)
    found = suspects(evidence(tool({"readOnlyHint": True, "openWorldHint": True}), made(sent)))
    assert ("read_only" in found) is speaks


def test_a_value_overwritten_under_its_key_is_a_loss_by_the_specification_alone() -> None:
    call = made(replace(WRITTEN, loss=Loss.OVERWROTE))
    assert suspects(evidence(tool(KEEPS), call)) == {}
    spec = suspects(evidence(tool(KEEPS), call, profile=Profile.SPEC))
    assert spec == {"destructive": call}


def test_what_can_be_had_back_is_not_lost_by_default() -> None:
    call = made(replace(GONE, recoverable="git"))
    assert suspects(evidence(tool(KEEPS), call)) == {}
    assert "destructive" in suspects(evidence(tool(KEEPS), call, profile=Profile.SPEC))


def test_a_format_that_nobody_reads_supports_no_keeping() -> None:
    given = evidence(tool(KEEPS), made(replace(WRITTEN, loss=Loss.UNKNOWN)))
    assert verdict(given, "destructive")[0] == "not_exercised"


def test_only_a_second_call_with_the_same_arguments_speaks_against_repeating() -> None:
    first, other = made(WRITTEN), made(WRITTEN, number=2, arguments={"a": 1})
    assert suspects(evidence(tool(KEEPS), first, other)) == {}
    second = made(WRITTEN, number=2)
    assert suspects(evidence(tool(KEEPS), first, second)) == {"idempotent": second}


def test_a_second_call_after_a_failure_says_nothing_of_repeating() -> None:
    failed = made(outcome=Outcome.TOOL_ERROR)
    assert suspects(evidence(tool(KEEPS), failed, made(WRITTEN, number=2))) == {}


def test_repeating_is_supported_where_the_first_changed_something_and_the_second_nothing() -> None:
    given = evidence(tool(KEEPS), made(WRITTEN), made(number=2))
    assert verdict(given, "idempotent")[0] == "supported"
    nothing = evidence(tool(KEEPS), made(), made(number=2))
    assert verdict(nothing, "idempotent")[0] == "not_exercised"


def test_the_write_hints_mean_nothing_on_what_only_reads() -> None:
    given = evidence(
        tool({"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}), made(GONE)
    )
    assert set(suspects(given)) == {"read_only"}
    assert verdict(given, "destructive")[1] == verdict(given, "idempotent")[1]


def test_more_declared_than_was_needed_is_information() -> None:
    found = judge(evidence(tool({"readOnlyHint": False, "destructiveHint": True}), made(WRITTEN)))
    assert found["destructive"].is_over_declared
    assert not found["read_only"].is_over_declared
    assert {one.verdict for one in found.values()} == {"not_exercised"}


def test_where_nothing_is_declared_the_inference_is_judged() -> None:
    found = suspects(evidence(tool({}, "list_notes"), made(WRITTEN)))
    assert set(found) == {"read_only"}
    assert judge(evidence(tool({}, "list_notes"), made()))["read_only"].inferred is True


def test_all_four_hints_are_always_told() -> None:
    assert set(judge(evidence(tool({})))) == set(HINT_NAMES)
