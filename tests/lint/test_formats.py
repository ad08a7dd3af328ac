"""Every format has all findings, and none lets a server's text control the reader's tool."""

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest
from tests.lint.tools import EVERY, tool

from sayso.errors import ConfigError
from sayso.lint import Places, Report, find_profile, lint, make_listing, places_in
from sayso.lint.baseline import read_baseline, without_known, write_baseline
from sayso.lint.formats import FORMATS

SCHEMA = (
    Path(__file__).parents[1]
    / "npm/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
)
CODES = {rule.code for rule in EVERY.rules}
SPEC = find_profile("spec")
NASTY = 'evil\x1b[31m\u202e\r\n::error::x %0A <b a="\'">]]>&\ufffe\x00 \ud800'

needs_schema = pytest.mark.skipif(
    shutil.which("node") is None or not SCHEMA.exists(),
    reason="needs the schema that `make setup` installs from npm",
)


def report(*entries: Any, file: str | None = "a dir/tools.json") -> Report:
    places = Places(file, {0: 3, 1: 9}) if file else None
    return lint(make_listing("shop", entries or [tool()]), EVERY, places=places)


@pytest.fixture(scope="module")
def nasty() -> Report:
    """Names, titles and texts of a server that wants to be seen as something else."""
    annotations = {"readOnlyHint": NASTY, NASTY: 1}
    one = tool(NASTY, title=NASTY, description=NASTY, annotations=annotations)
    meta = {"io.sayso/lint": {"allow": {NASTY: NASTY, "SS408": NASTY}}}
    return report(one | {"_meta": meta}, {"name": 3}, tool("b", title=None))


@pytest.mark.parametrize("name", list(FORMATS))
def test_nothing_that_is_told_steers_a_terminal_or_a_log(name: str, nasty: Report) -> None:
    told = FORMATS[name]([nasty], SPEC)
    assert told.endswith("\n")
    assert not [char for char in told if not char.isprintable() and char != "\n"]
    told.encode()
    assert not any(line.startswith("::error::x") for line in told.splitlines())


def test_each_finding_is_one_line_with_its_place(nasty: Report) -> None:
    lines = FORMATS["text"]([nasty], SPEC).splitlines()
    assert "a dir/tools.json:3: error SS103 [hint-not-a-boolean] evil\\u001b" in "\n".join(lines)
    assert len([line for line in lines if " SS" in line]) == len(nasty.findings) + 1
    assert "error" in lines[-1]
    clean = FORMATS["text"]([Report("shop", 1, ())], SPEC)
    assert clean == "no findings in 1 tool, profile spec\n"
    live = FORMATS["text"]([report(file=None)], SPEC)
    assert live.startswith("shop: note SS408 [output-schema-missing] list_orders: ")


def test_json_has_all_that_is_known_of_a_finding() -> None:
    document = json.loads(FORMATS["json"]([report(tool(title=None))], SPEC))
    assert document["schema"] == 1
    assert document["profile"]["name"] == "spec"
    (server,) = document["servers"]
    (item,) = [item for item in server["findings"] if item["code"] == "SS201"]
    assert item == {
        "code": "SS201",
        "name": "title-missing",
        "severity": "note",
        "tool": "list_orders",
        "index": 0,
        "at": ["title"],
        "message": "title is missing, so clients show the name",
        "fixable": True,
        "file": "a dir/tools.json",
        "line": 3,
    }
    assert sum(document["counts"].values()) == len(server["findings"])


@needs_schema
def test_sarif_is_valid_by_the_schema_of_oasis(nasty: Report) -> None:
    # Its pattern for languages has a bracket too many, which strict regular expressions refuse.
    text = SCHEMA.read_text(encoding="utf-8").replace("{2}]?$", "{2}?$")
    check = jsonschema_rs.validator_for(json.loads(text))
    for item in (nasty, report(file=None), Report("shop", 0, ())):
        document = json.loads(FORMATS["sarif"]([item, item], SPEC))
        assert [str(error) for error in check.iter_errors(document)] == []
    assert list(check.iter_errors({"version": "2.1.0", "runs": [{}]})) != []


def test_sarif_names_the_rule_the_line_and_what_is_allowed(nasty: Report) -> None:
    (run,) = json.loads(FORMATS["sarif"]([nasty], SPEC))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[item["ruleIndex"]]["id"] == item["ruleId"] for item in run["results"])
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20dir/tools.json"
    allowed = [item for item in run["results"] if "suppressions" in item]
    assert [allowance["ruleId"] for allowance in allowed] == ["SS408"]
    marks = [item["partialFingerprints"]["saysoFinding/v1"] for item in run["results"]]
    assert len(set(marks)) == len(marks)


def test_github_commands_are_escaped(nasty: Report) -> None:
    lines = FORMATS["github"]([nasty], SPEC).splitlines()
    assert len(lines) == len(nasty.findings)
    assert lines[0].startswith("::warning file=a dir/tools.json,line=3,title=SS1")
    assert "%250A" in lines[0]
    assert FORMATS["github"]([report(file=None)], SPEC).startswith("::notice title=SS408 ")
    comma = report(tool(title=None), file="a,b:c.json")
    assert "file=a%2Cb%3Ac.json" in FORMATS["github"]([comma], SPEC)


def test_junit_is_xml_with_a_case_for_each_tool(nasty: Report) -> None:
    root = ET.fromstring(FORMATS["junit"]([nasty, Report("clean", 3, ())], SPEC))  # noqa: S314 - our own
    (dirty, clean) = root
    assert (clean.get("tests"), clean.get("failures")) == ("3", "0")
    assert (
        dirty.get("failures") == str(len(nasty.findings)) == str(len(list(dirty.iter("failure"))))
    )
    assert [case.get("name") for case in dirty][1:] == ["b", "(the whole list)"]


def test_a_baseline_knows_findings_whatever_stands_around_them() -> None:
    before = report(tool("a", title=None), tool("b", description=None))
    text = write_baseline(before.findings)
    known = read_baseline(json.loads(text), "baseline.json")
    moved = report(tool("new"), tool("b", description=""), tool("a", title=None))
    after = without_known(moved, known, CODES)
    assert {finding.tool for finding in after.findings} == {"new"}
    assert len(after.known) == len(before.findings)
    assert after.gone == ()


def test_a_baseline_tells_what_is_gone_and_counts_what_occurs_twice() -> None:
    twice = report(tool("a", title=None), tool("a", title=None))
    known = read_baseline(json.loads(write_baseline(twice.findings)), "baseline.json")
    assert max(known.values()) == 2
    after = without_known(report(tool("a")), known, CODES)
    assert ("shop", "SS201", "a", "title") in after.gone
    assert without_known(report(tool("a")), known, {"SS101"}).gone == ()
    told = FORMATS["text"]([after], SPEC)
    assert "shop: fixed since the baseline: SS201 a (title)" in told
    assert "not repeated from the baseline: " in told
    (server,) = json.loads(FORMATS["json"]([after], SPEC))["servers"]
    assert {"server": "shop", "rule": "SS201", "tool": "a", "about": "title"} in server["gone"]


@pytest.mark.parametrize(
    "wrong",
    [[], {"schema": 2, "findings": []}, {"schema": 1}, {"schema": 1, "findings": [{"rule": "A"}]}],
)
def test_what_is_no_baseline_is_refused(wrong: object) -> None:
    with pytest.raises(ConfigError) as caught:
        read_baseline(wrong, "baseline.json")
    assert caught.value.where == "baseline.json"


def test_lines_are_counted_once_over_the_whole_text() -> None:
    text = '{"result": {"tools": [\n {"name": "a",\n  "x": [1,\n 2]},\n\n {"name": "b"}]}}'
    places = places_in("t.json", text, ("result", "tools"))
    assert (places.line(0), places.line(1), places.line(None), places.line(7)) == (2, 6, 1, 1)
    assert Places().line(0) is None
