"""Findings as JUnit XML: a suite for each server, a case for each tool."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import quoteattr

from avow.lint.finding import Finding
from avow.lint.profile import Profile
from avow.lint.run import Report
from avow.schema.plain import plain

_NO_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(reports: Sequence[Report], profile: Profile) -> str:
    """The document. A tool with findings is a case that failed once for each of them."""
    suites = "".join(_suite(one) for one in reports)
    name = _quoted(f"avow lint, profile {profile.name}")
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name={name}>\n{suites}</testsuites>\n'
    )


def _suite(report: Report) -> str:
    cases: defaultdict[str, list[Finding]] = defaultdict(list)
    for one in report.findings:
        cases[one.tool].append(one)
    body = "".join(_case(report, tool, found) for tool, found in cases.items())
    clean = report.tools - len([tool for tool in cases if tool])
    counts = f'tests="{max(clean, 0) + len(cases)}" failures="{len(report.findings)}"'
    return f"<testsuite name={_quoted(report.server)} {counts}>\n{body}</testsuite>\n"


def _case(report: Report, tool: str, found: Sequence[Finding]) -> str:
    failures = "".join(
        f"<failure type={_quoted(f'{one.code} {one.name}')} message={_quoted(one.message)}/>\n"
        for one in found
    )
    name, of = _quoted(tool or "(the whole list)"), _quoted(report.server)
    return f"<testcase classname={of} name={name}>\n{failures}</testcase>\n"


def _quoted(text: str) -> str:
    """A value for an attribute, without what XML cannot hold."""
    return quoteattr(_NO_XML.sub("�", plain(text)))
