"""Findings as lines of text with file and line, for people, editors and `grep`."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sayso.lint.profile import Profile
from sayso.lint.rule import Finding, Severity, count_of
from sayso.lint.run import Report
from sayso.schema import plain

_LONGEST = 400


def as_text(reports: Sequence[Report], profile: Profile) -> str:
    """Return one line per finding, then lines on allowed and baseline findings, then the totals."""
    findings = [_line(report, finding) for report in reports for finding in report.findings]
    lines = [*findings, *_suppressed(reports), _summary(reports, profile)]
    return "".join(f"{_short(plain(line))}\n" for line in lines)


def _line(report: Report, finding: Finding) -> str:
    line = report.places.line(finding.index)
    where = f"{report.places.file}:{line}" if line else report.server
    head = f"{where}: {finding.severity} {finding.code} [{finding.name}]"
    if finding.tool:
        head += f" {finding.tool}:"
    return f"{head} {finding.message}"


def _suppressed(reports: Sequence[Report]) -> Iterator[str]:
    for report in reports:
        for finding, why in report.allowed:
            yield f"{report.server}: allowed {finding.code} [{finding.name}] {finding.tool}: {why}"
        if report.known:
            yield f"{report.server}: not repeated from the baseline: {len(report.known)} findings"
        for key in report.gone:
            _, rule, tool, about = key
            entry = f"{rule} {tool} ({about})".removesuffix(" ()")
            yield f"{report.server}: fixed since the baseline: {entry}"


def _summary(reports: Sequence[Report], profile: Profile) -> str:
    counts = Counter(finding.severity for report in reports for finding in report.findings)
    totals = ", ".join(
        count_of(counts[severity], str(severity)) for severity in Severity if counts[severity]
    )
    tools = count_of(sum(report.tools for report in reports), "tool")
    fixable = sum(
        bool(finding.edits)
        for report in reports
        if report.is_fixable
        for finding in report.findings
    )
    summary = f"{totals or 'no findings'} in {tools}, profile {profile.name}"
    if fixable:
        summary += f"; --fix can fix {fixable} of them"
    return summary


def _short(line: str) -> str:
    if len(line) <= _LONGEST:
        return line
    return f"{line[: _LONGEST - 1]}…"
