"""Findings as SARIF 2.1.0 (OASIS), for code scanning."""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from avow import __version__
from avow.lint.finding import Finding, Severity
from avow.lint.profile import Profile
from avow.lint.registry import all_rules
from avow.lint.rule import Rule
from avow.lint.run import Report

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
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


def write_sarif(
    rules: Sequence[Mapping[str, Any]],
    results: Sequence[Mapping[str, Any]],
    *,
    properties: Mapping[str, Any],
) -> str:
    """A whole document of one run of avow, from its rules and results as SARIF has them."""
    driver = {"name": "avow", "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "properties": properties,
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _all(report: Report) -> list[Finding]:
    return [*report.findings, *(one for one, _ in report.allowed)]


def _rules(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    return [
        {
            "id": one.code,
            "name": one.name,
            "shortDescription": {"text": one.summary},
            "fullDescription": {"text": one.summary},
            "help": {"text": one.page, "markdown": one.page},
            "defaultConfiguration": {"level": _LEVELS[one.severity]},
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
        "partialFingerprints": {"avowFinding/v1": one.fingerprint},
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
