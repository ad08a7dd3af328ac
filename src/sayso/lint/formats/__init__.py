"""How reports are told: to people, programs, code scanning, GitHub's log and test runners."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sayso.lint.formats.github import as_github
from sayso.lint.formats.json import as_json
from sayso.lint.formats.junit import as_junit
from sayso.lint.formats.sarif import as_sarif
from sayso.lint.formats.text import as_text
from sayso.lint.profile import Profile
from sayso.lint.run import Report

Write = Callable[[Sequence[Report], Profile], str]

FORMATS: Final[Mapping[str, Write]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
    "junit": as_junit,
}
"""How to write reports, by the name of the format; each text ends with a line break."""

__all__ = ["FORMATS", "Write"]
