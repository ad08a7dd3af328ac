"""A report is whole in every format, and nothing in it steers who reads it."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from tests.verify.report.samples import (
    HINTS,
    NASTY,
    found,
    honest,
    hostile,
    large,
    reading,
    report,
    tool,
)

from sayso.verify.report import FORMATS
from sayso.verify.verdict import Report

EMPTY = Report("python server.py", {}, (), ())
REFUTED = 7


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("whole", [report(), hostile(), honest(), EMPTY], ids="abcd")
def test_nothing_that_is_told_steers_a_terminal_or_a_log(name: str, whole: Report) -> None:
    told = FORMATS[name](whole)
    assert told.endswith("\n")
    assert not [char for char in told if not char.isprintable() and char != "\n"]
    told.encode()
    assert not any(line.startswith("::error::x") for line in told.splitlines())


@pytest.mark.parametrize("name", list(FORMATS))
def test_the_same_report_is_told_in_the_same_bytes(name: str) -> None:
    turned = replace(
        report(),
        tools=tuple(
            replace(one, hints=dict(list(one.hints.items())[::-1])) for one in report().tools
        ),
    )
    assert FORMATS[name](report()) == FORMATS[name](report()) == FORMATS[name](turned)


def test_json_is_the_documented_form() -> None:
    document = json.loads(FORMATS["json"](report()))
    assert document["schema"] == 1
    assert document["layers"][0] == {
        "name": "root",
        "active": True,
        "detail": "bubblewrap 0.8, a minimal root",
    }
    first = document["tools"][0]
    assert (first["name"], list(first["hints"])) == ("customer_get", list(HINTS))
    hint = first["hints"]["read_only"]
    assert {"declared", "verdict", "calls", "inputs", "reason", "evidence"} <= set(hint)
    assert (hint["declared"], hint["verdict"], hint["calls"]) == (True, "refuted", 14)
    (effect,) = hint["evidence"]
    assert {name: effect[name] for name in ("kind", "target", "class", "source", "call")} == {
        "kind": "update",
        "target": "/world/shop.db#customers/17",
        "class": "user",
        "source": "sqlite",
        "call": 14,
    }
    assert document == json.loads(json.dumps(report().to_dict()))


def test_json_keeps_hostile_texts_as_they_are() -> None:
    document = json.loads(FORMATS["json"](hostile()))
    assert document["server"]["name"] == NASTY
    assert NASTY in [one["name"] for one in document["tools"]]


def test_junit_has_a_case_for_each_hint_of_each_tool() -> None:
    whole = report()
    root = ET.fromstring(FORMATS["junit"](whole))  # noqa: S314 - our own
    (suite,) = root
    cases = list(suite)
    assert len(cases) == sum(len(one.hints) for one in whole.tools) == 45
    counted = {name: len(list(suite.iter(name))) for name in ("testcase", "failure", "skipped")}
    told = {name: int(suite.get(name) or -1) for name in ("tests", "failures", "skipped")}
    assert list(counted.values()) == list(told.values())
    assert told["failures"] == REFUTED
    failed = cases[0].find("failure")
    assert failed is not None
    assert failed.get("message", "").startswith("read-only is declared true: a row of")
    assert '{"name": "customer_get", "arguments": {"id": 17}}' in (failed.text or "")
    assert "update /world/shop.db#customers/17 (user, seen by sqlite, call 14" in (
        failed.text or ""
    )


def test_junit_skips_what_was_not_exercised_with_the_reason() -> None:
    root = ET.fromstring(FORMATS["junit"](report()))  # noqa: S314 - our own
    skipped = {
        (case.get("classname"), case.get("name")): one.get("message")
        for case in root.iter("testcase")
        for one in case.iter("skipped")
    }
    assert skipped["mail_send", "open-world"] == "not exercised: no call succeeded"
    assert skipped["customer_delete", "destructive"] == "over-declared: no call lost anything"


def test_the_call_that_shows_it_again_is_found_where_nothing_was_shrunk() -> None:
    first = report().tools[0]
    bare = {name: replace(hint, arguments=None) for name, hint in first.hints.items()}
    known = FORMATS["junit"](replace(report(), tools=(replace(first, hints=bare),)))
    assert '"arguments": {"id": 17}' in known
    unknown = FORMATS["junit"](replace(report(), tools=(replace(first, hints=bare, made=()),)))
    assert "tools/call" not in unknown


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_large_report_is_written_at_once(name: str) -> None:
    told = FORMATS[name](large())
    assert "tool_999" in told


def test_a_long_list_of_effects_is_cut_with_a_word_on_how_many_are_missing() -> None:
    evidence = report().tools[0].hints["read_only"].evidence * 500
    many = found("refuted", "each", declared=True, evidence=evidence)
    whole = replace(report(), tools=(tool("many", reading(read_only=many)),))
    assert "and 480 more effects" in FORMATS["junit"](whole)
    assert "and 450 more effects" in FORMATS["html"](whole)
    assert "and 480 more; --json lists all" in FORMATS["text"](whole)
    assert (
        len(json.loads(FORMATS["json"](whole))["tools"][0]["hints"]["read_only"]["evidence"]) == 500
    )
