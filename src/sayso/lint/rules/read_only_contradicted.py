"""A tool that is declared read-only and reads like one that writes.

## What it does
Finds tools with `readOnlyHint: true` whose name, description or arguments suggest that they write:
the inference is at least 0.9 sure.

## Why is this bad
Clients run read-only tools without asking. This is the hint that does most harm where it is wrong.

## Example
{"name": "delete_order", "annotations": {"readOnlyHint": true}}

## Use instead
{"name": "delete_order", "annotations": {"readOnlyHint": false, "destructiveHint": true}}

## Fix
None: either the hint is wrong or the text is.
"""

from typing import Final

from sayso.lint.contradiction import contradicted
from sayso.lint.rule import Remarks, Rule, Severity
from sayso.lint.subject import Subject

_ANSWERS: Final = frozenset(
    {
        "analyzer",
        "answer",
        "chart",
        "chat",
        "completion",
        "diagram",
        "embedding",
        "estimate",
        "preview",
    }
    | {"query", "response", "search", "snippet", "summary", "template"}
)
_GETS: Final = frozenset({"get", "list", "show"})


@Rule("SS110", "read-only-contradicted", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    is_answer = not _ANSWERS.isdisjoint(tool.words) or not _GETS.isdisjoint(tool.words[-1:])
    if is_answer and tool.doubt("destructive", value=True) is None:
        return
    yield from contradicted(tool, "read_only", value=True)
