"""Findings as lines for people, each with its place, so that editors and `grep` find it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sayso.lint.finding import Finding, Severity
from sayso.lint.profile import Profile
from sayso.lint.run import Report
from sayso.schema import plain

_LONGEST = 400


def as_text(reports: Sequence[Report], profile: Profile) -> str:
    """One line for each finding, then what was not told, then how many there are."""
    lines = [*_lines(reports), *_asides(reports), _summary(reports, profile)]
    return "".join(f"{_short(plain(line))}\n" for line in lines)


def tell(report: Report, one: Finding) -> str:
    """A finding in one line: where, how loud, which rule, which tool, what."""
    line = report.places.line(one.index)
    where = f"{report.places.file}:{line}" if line else report.server
    tool = f" {one.tool}:" if one.tool else ""
    return f"{where}: {one.severity} {one.code} [{one.name}]{tool} {one.message}"


def _lines(reports: Sequence[Report]) -> Iterator[str]:
    for report in reports:
        for one in report.findings:
            yield tell(report, one)


def _asides(reports: Sequence[Report]) -> Iterator[str]:
    for report in reports:
        for one, why in report.allowed:
            yield f"{report.server}: allowed {one.code} [{one.name}] {one.tool}: {why}"
        if report.known:
            yield f"{report.server}: {len(report.known)} in the baseline are not told again"
        for key in report.gone:
            about = f" ({key[3]})" if key[3] else ""
            yield f"{report.server}: gone from the baseline: {key[1]} {key[2]}{about}"


def _summary(reports: Sequence[Report], profile: Profile) -> str:
    found = [one for report in reports for one in report.findings]
    counts = Counter(one.severity for one in found)
    told = ", ".join(count_of(counts[one], str(one)) for one in Severity if counts[one])
    tools = count_of(sum(report.tools for report in reports), "tool")
    fixable = sum(
        bool(one.edits) for report in reports if report.is_mendable for one in report.findings
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
