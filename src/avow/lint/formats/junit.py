"""Findings as JUnit XML: a suite for each server, a case for each tool."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from avow.lint.finding import Finding
from avow.lint.profile import Profile
from avow.lint.run import Report
from avow.schema.plain import plain

_NO_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(reports: Sequence[Report], profile: Profile) -> str:
    """The document. A tool with findings is a case that failed once for each of them."""
    suites = "".join(_suite(one) for one in reports)
    name = quoted_xml(f"avow lint, profile {profile.name}")
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
    return f"<testsuite name={quoted_xml(report.server)} {counts}>\n{body}</testsuite>\n"


def _case(report: Report, tool: str, found: Sequence[Finding]) -> str:
    failures = "".join(
        f"<failure type={quoted_xml(f'{one.code} {one.name}')} "
        f"message={quoted_xml(one.message)}/>\n"
        for one in found
    )
    name, of = quoted_xml(tool or "(the whole list)"), quoted_xml(report.server)
    return f"<testcase classname={of} name={name}>\n{failures}</testcase>\n"


def quoted_xml(text: str) -> str:
    """A value for an attribute, in its quotes, without what XML cannot hold."""
    return quoteattr(_spelt(text))


def escaped_xml(text: str) -> str:
    """One line of text for an element, without what XML cannot hold."""
    return escape(_spelt(text))


def _spelt(text: str) -> str:
    return _NO_XML.sub("�", plain(text))
