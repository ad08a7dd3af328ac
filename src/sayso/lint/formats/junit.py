"""Findings as JUnit XML: a suite per server, a case per tool."""

from collections import defaultdict
from collections.abc import Sequence

from sayso.lint.profile import Profile
from sayso.lint.rule import Finding
from sayso.lint.run import Report
from sayso.report import junit_case, junit_suite, quoted_xml, write_junit


def as_junit(reports: Sequence[Report], profile: Profile) -> str:
    """Return the JUnit document. Each tool is a case, with one failure per finding."""
    name = f"sayso lint, profile {profile.name}"
    return write_junit(name, [_suite(report) for report in reports])


def _suite(report: Report) -> str:
    cases: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        cases[finding.tool].append(finding)
    failed = [_case(report, tool, findings) for tool, findings in cases.items()]
    clean = report.tools - len([tool for tool in cases if tool])
    counts = f'tests="{max(clean, 0) + len(cases)}" failures="{len(report.findings)}"'
    return junit_suite(report.server, failed, figures=counts)


def _case(report: Report, tool: str, findings: Sequence[Finding]) -> str:
    failures = "".join(
        f"<failure type={quoted_xml(f'{finding.code} {finding.name}')} "
        f"message={quoted_xml(finding.message)}/>\n"
        for finding in findings
    )
    return junit_case(report.server, tool or "(the whole list)", failures)
