"""Findings as JUnit XML: a suite for each server, a case for each tool."""

from collections import defaultdict
from collections.abc import Sequence

from sayso.lint.profile import Profile
from sayso.lint.rule import Finding
from sayso.lint.run import Report
from sayso.report import junit_case, junit_suite, quoted_xml, write_junit


def as_junit(reports: Sequence[Report], profile: Profile) -> str:
    """The document. A tool with findings is a case that failed once for each of them."""
    name = f"sayso lint, profile {profile.name}"
    return write_junit(name, [_suite(report) for report in reports])


def _suite(report: Report) -> str:
    cases: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        cases[finding.tool].append(finding)
    told = [_case(report, tool, found) for tool, found in cases.items()]
    clean = report.tools - len([tool for tool in cases if tool])
    counts = f'tests="{max(clean, 0) + len(cases)}" failures="{len(report.findings)}"'
    return junit_suite(report.server, told, figures=counts)


def _case(report: Report, tool: str, found: Sequence[Finding]) -> str:
    failures = "".join(
        f"<failure type={quoted_xml(f'{finding.code} {finding.name}')} "
        f"message={quoted_xml(finding.message)}/>\n"
        for finding in found
    )
    return junit_case(report.server, tool or "(the whole list)", failures)
