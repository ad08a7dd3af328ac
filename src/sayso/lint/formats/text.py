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
    told = [tell(report, finding) for report in reports for finding in report.findings]
    lines = [*told, *_asides(reports), _summary(reports, profile)]
    return "".join(f"{_short(plain(line))}\n" for line in lines)


def tell(report: Report, finding: Finding) -> str:
    """A finding in one line: where, how loud, which rule, which tool, what."""
    line = report.places.line(finding.index)
    where = f"{report.places.file}:{line}" if line else report.server
    told = f"{where}: {finding.severity} {finding.code} [{finding.name}]"
    if finding.tool:
        told += f" {finding.tool}:"
    return f"{told} {finding.message}"


def _asides(reports: Sequence[Report]) -> Iterator[str]:
    for report in reports:
        for finding, why in report.allowed:
            yield f"{report.server}: allowed {finding.code} [{finding.name}] {finding.tool}: {why}"
        if report.known:
            yield f"{report.server}: {len(report.known)} in the baseline are not told again"
        for key in report.gone:
            _, rule, tool, about = key
            told = f"{rule} {tool} ({about})".removesuffix(" ()")
            yield f"{report.server}: gone from the baseline: {told}"


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
    summary = f"{told or 'nothing found'} in {tools}, profile {profile.name}"
    if fixable:
        summary += f"; --fix mends {fixable} of them"
    return summary


def count_of(count: int, noun: str) -> str:
    """A number and its noun.

    >>> count_of(1, "error"), count_of(2, "error")
    ('1 error', '2 errors')
    """
    if count != 1:
        noun += "s"
    return f"{count} {noun}"


def _short(line: str) -> str:
    if len(line) <= _LONGEST:
        return line
    return f"{line[: _LONGEST - 1]}…"
