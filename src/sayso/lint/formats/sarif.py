"""Findings as SARIF 2.1.0 (OASIS), for code scanning."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from sayso.lint.finding import Finding, Severity
from sayso.lint.profile import Profile
from sayso.lint.registry import all_rules
from sayso.lint.rule import Rule
from sayso.lint.run import Report
from sayso.report import sarif_rule, write_sarif

_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "note",
}


def as_sarif(reports: Sequence[Report], profile: Profile) -> str:
    """One run with all servers. Only ASCII, so nothing in it can steer a terminal."""
    told = {one.code for report in reports for one in _all(report)}
    rules = [one for one in all_rules() if one.code in told]
    places = {rule.code: index for index, rule in enumerate(rules)}
    results = [result for report in reports for result in _results(report, places)]
    return write_sarif(_rules(rules), results, properties={"profile": profile.name})


def _all(report: Report) -> list[Finding]:
    return [*report.findings, *(one for one, _ in report.allowed)]


def _rules(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    return [
        {
            **sarif_rule(
                one.code,
                one.summary,
                meaning=one.summary,
                help_=one.page,
                level=_LEVELS[one.severity],
            ),
            "name": one.name,
        }
        for one in rules
    ]


def _results(report: Report, places: dict[str, int]) -> list[dict[str, Any]]:
    told = [_result(report, one, places) for one in report.findings]
    allowed = [
        {
            **_result(report, one, places),
            "suppressions": [{"kind": "inSource", "justification": why}],
        }
        for one, why in report.allowed
    ]
    return told + allowed


def _result(report: Report, one: Finding, places: dict[str, int]) -> dict[str, Any]:
    subject = f"{one.tool}: " if one.tool else ""
    return {
        "ruleId": one.code,
        "ruleIndex": places[one.code],
        "level": _LEVELS[one.severity],
        "message": {"text": f"{subject}{one.message}"},
        "locations": [_location(report, one)],
        "partialFingerprints": {"saysoFinding/v1": one.fingerprint},
    }


def _location(report: Report, one: Finding) -> dict[str, Any]:
    name = one.tool or report.server
    logical = {
        "name": name,
        "fullyQualifiedName": f"{report.server}/{one.tool}" if one.tool else report.server,
        "kind": "function" if one.tool else "module",
    }
    found: dict[str, Any] = {"logicalLocations": [logical]}
    line = report.places.line(one.index)
    if report.places.file and line:
        uri = quote(PurePath(report.places.file).as_posix())
        region = {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}
        found["physicalLocation"] = region
    return found
