"""Findings as lines for people, each with its place, so that editors and `grep` find it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sayso.lint.profile import Profile
from sayso.lint.rule import Finding, Severity
from sayso.lint.run import Report
from sayso.schema import plain

_LONGEST = 400


def as_text(reports: Sequence[Report], profile: Profile) -> str:
    """One line for each finding, then what was not told, then how many there are."""
    lines = [*_lines(reports), *_asides(reports), _summary(reports, profile)]
    return "".join(f"{_short(plain(line))}\n" for line in lines)


def tell(report: Report, finding: Finding) -> str:
    """A finding in one line: where, how loud, which rule, which tool, what."""
    line = report.places.line(finding.index)
    where = f"{report.places.file}:{line}" if line else report.server
    tool = f" {finding.tool}:" if finding.tool else ""
    return f"{where}: {finding.severity} {finding.code} [{finding.name}]{tool} {finding.message}"


def _lines(reports: Sequence[Report]) -> Iterator[str]:
    for report in reports:
        for finding in report.findings:
            yield tell(report, finding)


def _asides(reports: Sequence[Report]) -> Iterator[str]:
    for report in reports:
        for finding, why in report.allowed:
            yield f"{report.server}: allowed {finding.code} [{finding.name}] {finding.tool}: {why}"
        if report.known:
            yield f"{report.server}: {len(report.known)} in the baseline are not told again"
        for key in report.gone:
            about = f" ({key[3]})" if key[3] else ""
            yield f"{report.server}: gone from the baseline: {key[1]} {key[2]}{about}"


def _summary(reports: Sequence[Report], profile: Profile) -> str:
    found = [finding for report in reports for finding in report.findings]
    counts = Counter(finding.severity for finding in found)
    told = ", ".join(
        count_of(counts[severity], str(severity)) for severity in Severity if counts[severity]
    )
    tools = count_of(sum(report.tools for report in reports), "tool")
    fixable = sum(
        bool(finding.edits)
        for report in reports
        if report.is_mendable
        for finding in report.findings
    )
    fix = f"; --fix mends {fixable} of them" if fixable else ""
    return f"{told or 'nothing found'} in {tools}, profile {profile.name}{fix}"


def count_of(count: int, noun: str) -> str:
    """A number and its noun.

    >>> count_of(1, "error"), count_of(2, "error")
    ('1 error', '2 errors')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
