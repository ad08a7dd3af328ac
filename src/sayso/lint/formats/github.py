"""Findings as GitHub workflow commands, which annotate the lines of a pull request."""

from collections.abc import Iterator, Sequence
from typing import Final

from sayso.lint.profile import Profile
from sayso.lint.rule import Finding, Severity
from sayso.lint.run import Report
from sayso.schema import plain

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def as_github(reports: Sequence[Report], profile: Profile) -> str:  # noqa: ARG001 - the signature of formats
    """Return one workflow command per finding."""
    return "".join(f"{line}\n" for report in reports for line in _commands(report))


def _commands(report: Report) -> Iterator[str]:
    for finding in report.findings:
        fields = _fields(report, finding)
        shown = ",".join(f"{name}={_property(value)}" for name, value in fields.items())
        message = f"{finding.tool or report.server}: {finding.message}"
        yield f"::{_COMMANDS[finding.severity]} {shown}::{_data(message)}"


def _fields(report: Report, finding: Finding) -> dict[str, str]:
    fields = {"title": f"{finding.code} {finding.name}"}
    line = report.places.line(finding.index)
    if line is None:
        return fields
    return {"file": report.places.file or "", "line": str(line), **fields}


def _data(text: str) -> str:
    """Escape a message: `%` starts an escape, and a line break ends the command."""
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
