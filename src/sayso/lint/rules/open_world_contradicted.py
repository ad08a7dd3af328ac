"""A tool that is declared closed and reads like one that reaches outside.

## What it does
Finds tools with `openWorldHint: false` whose name, description or arguments suggest that they
reach the open web or people outside: the inference is at least 0.8 sure.

## Why is this bad
What comes from outside may hold instructions to the model, and what goes there cannot be had back.
Policies that look at the hint let both pass.

## Example
{"name": "web_search", "annotations": {"readOnlyHint": true, "openWorldHint": false}}

## Use instead
{"name": "web_search", "annotations": {"readOnlyHint": true, "openWorldHint": true}}

## Fix
None: either the hint is wrong or the text is.
"""

from typing import Final

from sayso.lint.contradiction import contradicted
from sayso.lint.rule import Remarks, Rule, Severity
from sayso.lint.subject import Subject

_SURE: Final = 0.8
"""Less than elsewhere: few tools reach out, so the inference is seldom surer of one that does."""
_OUTSIDE: Final = (
    *("api", "brows", "crawl", "domain", "download", "external", "http", "internet", "mail"),
    *("message", "online", "package", "public", "regist", "scrap", "search", "sms", "tweet"),
    *("upload", "uri", "url", "web", "site"),
)
"""Without any of these nothing is said to reach out, and nothing need be inferred."""


@Rule("SS113", "open-world-contradicted", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if any(word in tool.lower_text for word in _OUTSIDE):
        yield from contradicted(tool, "open_world", value=False, at_least=_SURE)
