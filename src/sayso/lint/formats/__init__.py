"""Report formats: text, JSON, SARIF, GitHub workflow commands and JUnit XML."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sayso.lint.formats.github import as_github
from sayso.lint.formats.json import as_json
from sayso.lint.formats.junit import as_junit
from sayso.lint.formats.sarif import as_sarif
from sayso.lint.formats.text import as_text
from sayso.lint.profile import Profile
from sayso.lint.run import Report

FORMATS: Final[Mapping[str, Callable[[Sequence[Report], Profile], str]]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
    "junit": as_junit,
}
"""Writers by format name. Each text ends with a line break."""

__all__ = ["FORMATS"]
