"""A tool declared read-only that seems to write.

## What it does
Finds tools with `readOnlyHint: true` whose name, description or arguments suggest that they write,
with at least 0.9 confidence.

## Why is this bad
Clients run read-only tools without asking, so this false hint does the most harm.

## Example
{"name": "delete_order", "annotations": {"readOnlyHint": true}}

## Use instead
{"name": "delete_order", "annotations": {"readOnlyHint": false, "destructiveHint": true}}
"""

from typing import Final

from sayso.lint.contradiction import contradicted
from sayso.lint.rule import Remarks, Rule, Severity
from sayso.lint.subject import Subject

_ANSWERS: Final = frozenset(
    {"analyzer", "answer", "chart", "chat", "completion", "diagram", "embedding", "estimate"}
    | {"preview", "query", "response", "search", "snippet", "summary", "template"}
)
_GETS: Final = frozenset({"get", "list", "show"})


@Rule("SS110", "read-only-contradicted", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    is_answer = not _ANSWERS.isdisjoint(tool.words) or not _GETS.isdisjoint(tool.words[-1:])
    if is_answer and tool.doubt("destructive", value=True) is None:
        return
    yield from contradicted(tool, "read_only", value=True)
