"""Findings as one JSON document."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from sayso.lint.finding import Finding, Severity
from sayso.lint.profile import Profile
from sayso.lint.run import Report
from sayso.report import write_json_document

_SCHEMA: Final = 1


def as_json(reports: Sequence[Report], profile: Profile) -> str:
    """The documented form. Only ASCII, so nothing in it can steer a terminal."""
    counts = Counter(one.severity for report in reports for one in report.findings)
    document = {
        "schema": _SCHEMA,
        "profile": {"name": profile.name, "source": profile.source, "date": profile.date},
        "counts": {str(one): counts[one] for one in Severity},
        "servers": [_report(one) for one in reports],
    }
    return write_json_document(document)


def _report(report: Report) -> dict[str, Any]:
    return {
        "name": report.server,
        "tools": report.tools,
        "findings": [_finding(report, one) for one in report.findings],
        "allowed": [{**_finding(report, one), "reason": why} for one, why in report.allowed],
        "known": len(report.known),
        "gone": [
            dict(zip(("server", "rule", "tool", "about"), key, strict=True)) for key in report.gone
        ],
    }


def _finding(report: Report, one: Finding) -> dict[str, Any]:
    found: dict[str, Any] = {
        "code": one.code,
        "name": one.name,
        "severity": str(one.severity),
        "tool": one.tool or None,
        "index": one.index,
        "at": list(one.at),
        "message": one.message,
        "fixable": bool(one.edits),
    }
    line = report.places.line(one.index)
    return found | ({"file": report.places.file, "line": line} if line else {})
