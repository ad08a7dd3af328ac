"""How a run is told: to a person while it goes on, to programs, test runners, and browsers.

`sayso.verify.report.terminal` consumes events as they come; the formats take the whole report.
"""

from collections.abc import Callable, Mapping
from typing import Final

from sayso.verify.report.html import as_html
from sayso.verify.report.json import as_json
from sayso.verify.report.junit import as_junit
from sayso.verify.report.sarif import as_sarif
from sayso.verify.report.text import as_text
from sayso.verify.verdict import Report

Write = Callable[[Report], str]

FORMATS: Final[Mapping[str, Write]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "sarif": as_sarif,
    "html": as_html,
}
"""How to write a report, by the name of the format; each text ends with a line break."""

__all__ = ["FORMATS", "Write"]
