"""Findings as one JSON document."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from sayso.lint.profile import Profile
from sayso.lint.rule import Finding, Severity
from sayso.lint.run import Report
from sayso.report import write_json_document

_SCHEMA: Final = 1


def as_json(reports: Sequence[Report], profile: Profile) -> str:
    """Return the findings as JSON, in ASCII only, so that they cannot control a terminal."""
    counts = Counter(finding.severity for report in reports for finding in report.findings)
    document = {
        "schema": _SCHEMA,
        "profile": {"name": profile.name, "source": profile.source, "date": profile.date},
        "counts": {str(severity): counts[severity] for severity in Severity},
        "servers": [_report(report) for report in reports],
    }
    return write_json_document(document)


def _report(report: Report) -> dict[str, Any]:
    return {
        "name": report.server,
        "tools": report.tools,
        "findings": [_finding(report, finding) for finding in report.findings],
        "allowed": [
            {**_finding(report, finding), "reason": why} for finding, why in report.allowed
        ],
        "known": len(report.known),
        "gone": [
            dict(zip(("server", "rule", "tool", "about"), key, strict=True)) for key in report.gone
        ],
    }


def _finding(report: Report, finding: Finding) -> dict[str, Any]:
    data: dict[str, Any] = {
        "code": finding.code,
        "name": finding.name,
        "severity": str(finding.severity),
        "tool": finding.tool or None,
        "index": finding.index,
        "at": list(finding.at),
        "message": finding.message,
        "fixable": bool(finding.edits),
    }
    line = report.places.line(finding.index)
    if line is not None:
        data |= {"file": report.places.file, "line": line}
    return data
