"""A tool that is declared read-only and destructive.

## What it does
Finds tools with both `readOnlyHint: true` and `destructiveHint: true`.

## Why is this bad
One of the two is false. Clients that look at the first run the tool without asking, those that
look at the second ask; sayso takes it for one that destroys.

## Example
{"name": "purge_cache", "annotations": {"readOnlyHint": true, "destructiveHint": true}}

## Use instead
{"name": "purge_cache", "annotations": {"readOnlyHint": false, "destructiveHint": true}}
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS108", "read-only-destructive", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.hints.read_only and tool.hints.destructive:
        message = "declared read-only and destructive: one of the two is false"
        yield Remark(message, ("annotations", "destructiveHint"))
