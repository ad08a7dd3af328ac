"""Findings as SARIF 2.1.0 (OASIS), for code scanning."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from sayso.lint.profile import Profile
from sayso.lint.registry import all_rules
from sayso.lint.rule import Finding, Rule
from sayso.lint.run import Report
from sayso.report import sarif_rule, write_sarif


def as_sarif(reports: Sequence[Report], profile: Profile) -> str:
    """Return one run with all servers, in ASCII only, so that it cannot control a terminal."""
    codes = {finding.code for report in reports for finding in report.findings}
    codes |= {finding.code for report in reports for finding, _ in report.allowed}
    rules = [rule for rule in all_rules() if rule.code in codes]
    places = {rule.code: index for index, rule in enumerate(rules)}
    results = [result for report in reports for result in _results(report, places)]
    return write_sarif(_rules(rules), results, properties={"profile": profile.name})


def _rules(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    return [
        {
            **sarif_rule(
                rule.code,
                rule.summary,
                meaning=rule.summary,
                help_=rule.page,
                level=str(rule.severity),
            ),
            "name": rule.name,
        }
        for rule in rules
    ]


def _results(report: Report, places: dict[str, int]) -> list[dict[str, Any]]:
    results = [_result(report, finding, places) for finding in report.findings]
    allowed = [
        {
            **_result(report, finding, places),
            "suppressions": [{"kind": "inSource", "justification": why}],
        }
        for finding, why in report.allowed
    ]
    return results + allowed


def _result(report: Report, finding: Finding, places: dict[str, int]) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "ruleIndex": places[finding.code],
        "level": str(finding.severity),
        "message": {"text": f"{finding.tool}: {finding.message}".removeprefix(": ")},
        "locations": [_location(report, finding)],
        "partialFingerprints": {"saysoFinding/v1": finding.fingerprint},
    }


def _location(report: Report, finding: Finding) -> dict[str, Any]:
    logical = {"name": report.server, "fullyQualifiedName": report.server, "kind": "module"}
    if finding.tool:
        name = f"{report.server}/{finding.tool}"
        logical = {"name": finding.tool, "fullyQualifiedName": name, "kind": "function"}
    location: dict[str, Any] = {"logicalLocations": [logical]}
    line = report.places.line(finding.index)
    if report.places.file and line:
        uri = quote(PurePath(report.places.file).as_posix())
        region = {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}
        location["physicalLocation"] = region
    return location
