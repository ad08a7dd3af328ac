"""The log: each line stands for itself, holds no secret, and says how loud it is."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.sample_tools import AMY, DELETE, tool

from sayso.audit import AuditLog, Facts, Outcome
from sayso.audit.exporter import FORMATS, export
from sayso.audit.record import severity
from sayso.intent import Level
from sayso.policy import Decision, Effect
from sayso.schema import MASK, digest
from sayso.store import open_store

pytestmark = pytest.mark.anyio


def facts(arguments: dict[str, Any]) -> Facts:
    decision = Decision(Effect.CONFIRM, "mode:guarded", "it may destroy something")
    return Facts("c1", AMY, tool(annotations=DELETE), arguments, digest(arguments), decision)


async def test_each_line_says_who_what_with_which_hints_and_why(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    log = AuditLog(store.records, clock=lambda: 12.5)
    told = facts({"customer_id": 7, "password": "hunter2"})
    asked = log.asking(told, None)
    opened = await store.questions.open("b", "{}", now=1.0, expires=2.0, asked=asked)
    assert asked(opened) is not None
    assert log.asking(told, opened.number)(opened) is None
    await log.attempt(told, 1)
    await log.outcome(told, Outcome.OK, started=12.0, approval=1, result={"isError": False})
    rows = await log.newest(call="c1")
    assert [row.event for row in rows] == ["outcome", "attempt", "asked"]
    for row in rows:
        body = json.loads(row.body)
        assert body["subject"] == AMY.subject
        assert body["client"] == "chat"
        assert (body["server"], body["tool"]) == ("demo", "customer_delete")
        assert body["hints"]["destructive"] == {"value": True, "source": "declared"}
        assert (body["decision"], body["rule"]) == ("confirm", "mode:guarded")
        assert body["arguments"] == {"customer_id": 7, "password": MASK}
        assert body["arguments_digest"] == told.arguments_digest
        assert body["approval"] == 1
        assert "hunter2" not in row.body
    outcome = json.loads(rows[0].body)
    assert (outcome["outcome"], outcome["severity"]) == ("ok", "warning")
    assert outcome["milliseconds"] == 500
    assert len(outcome["result_digest"]) == 64
    await store.close()


async def test_a_call_of_an_unknown_tool_is_on_record(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    log = AuditLog(store.records)
    await log.refused("c1", AMY, name="x" * 1000, outcome=Outcome.UNKNOWN_TOOL)
    (row,) = await log.newest()
    assert row.event == "refused"
    assert json.loads(row.body)["name"] == "x" * 256
    await store.close()


async def test_the_name_of_an_unknown_tool_is_recorded_without_secrets(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    log = AuditLog(store.records)
    for name in ("deploy --token=hunter2", "x" * 240 + " ghp_" + "a1" * 18):
        await log.refused("c1", AMY, name=name, outcome=Outcome.UNKNOWN_TOOL)
    told = " ".join(row.body for row in await log.newest())
    assert "hunter2" not in told
    assert "ghp_" not in told
    await store.close()


async def test_text_that_no_store_can_hold_is_recorded_all_the_same(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    log = AuditLog(store.records)
    odd = replace(AMY, subject="a\0b\ud800", client="\ud800")
    await log.refused("c1", odd, name="tool\ud800", outcome=Outcome.UNKNOWN_TOOL)
    (row,) = await log.newest()
    body = json.loads(row.body)
    assert row.subject == body["subject"] == "a\ufffdb?"
    assert (body["client"], body["name"]) == ("\ud800", "tool\ud800")
    for form in FORMATS:
        assert "".join(export([row], form)).encode()
    await store.close()


@pytest.mark.parametrize(
    ("level", "outcome", "expected"),
    [
        ("read", "ok", "info"),
        ("write", "ok", "notice"),
        ("destructive", "ok", "warning"),
        ("destructive", "tool_error", "warning"),
        ("read", "outcome_unknown", "notice"),
        ("write", "outcome_unknown", "error"),
        ("destructive", "outcome_unknown", "critical"),
        ("destructive", "denied", "warning"),
        ("destructive", "waiting", "notice"),
        ("destructive", "cancelled", "notice"),
        ("read", "unreachable", "notice"),
        ("read", "error", "notice"),
        ("read", "failed", "error"),
        ("read", "tool_changed", "error"),
        ("destructive", "bad_output", "warning"),
    ],
)
def test_severity_follows_from_level_and_outcome(level: str, outcome: str, expected: str) -> None:
    assert severity(Level(level), Outcome(outcome)) == expected
