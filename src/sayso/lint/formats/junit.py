"""Findings as JUnit XML: a suite for each server, a case for each tool."""

from collections import defaultdict
from collections.abc import Sequence

from sayso.lint.finding import Finding
from sayso.lint.profile import Profile
from sayso.lint.run import Report
from sayso.report import junit_case, junit_suite, quoted_xml, write_junit


def as_junit(reports: Sequence[Report], profile: Profile) -> str:
    """The document. A tool with findings is a case that failed once for each of them."""
    name = f"sayso lint, profile {profile.name}"
    return write_junit(name, [_suite(one) for one in reports])


def _suite(report: Report) -> str:
    cases: defaultdict[str, list[Finding]] = defaultdict(list)
    for one in report.findings:
        cases[one.tool].append(one)
    told = [_case(report, tool, found) for tool, found in cases.items()]
    clean = report.tools - len([tool for tool in cases if tool])
    counts = f'tests="{max(clean, 0) + len(cases)}" failures="{len(report.findings)}"'
    return junit_suite(report.server, told, figures=counts)


def _case(report: Report, tool: str, found: Sequence[Finding]) -> str:
    failures = "".join(
        f"<failure type={quoted_xml(f'{one.code} {one.name}')} "
        f"message={quoted_xml(one.message)}/>\n"
        for one in found
    )
    return junit_case(report.server, tool or "(the whole list)", failures)
