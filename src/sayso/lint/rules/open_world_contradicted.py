"""A tool declared closed-world that seems to reach outside.

## What it does
Finds tools with `openWorldHint: false` whose name, description or arguments suggest that they reach
the open web or other people, with at least 0.8 confidence.

## Why is this bad
Content from outside may carry instructions to the model, and data that is sent out cannot be taken
back. A policy that uses the hint does not notice either.

## Example
{"name": "web_search", "annotations": {"readOnlyHint": true, "openWorldHint": false}}

## Use instead
{"name": "web_search", "annotations": {"readOnlyHint": true, "openWorldHint": true}}
"""

from typing import Final

from sayso.lint.contradiction import contradicted
from sayso.lint.rule import Remarks, Rule, Severity
from sayso.lint.subject import Subject

_SURE: Final = 0.8
"""Lower than in other rules: few tools are open-world, so the inference is rarely sure of it."""
_OUTSIDE: Final = (
    *("api", "brows", "crawl", "domain", "download", "external", "http", "internet", "mail"),
    *("message", "online", "package", "public", "regist", "scrap", "search", "sms", "tweet"),
    *("upload", "uri", "url", "web", "site"),
)
"""A text without any of these words suggests no outside access, so inference is skipped."""


@Rule("SS113", "open-world-contradicted", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if any(word in tool.lower_text for word in _OUTSIDE):
        yield from contradicted(tool, "open_world", value=False, at_least=_SURE)
