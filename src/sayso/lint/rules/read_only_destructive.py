"""A tool declared both read-only and destructive.

## What it does
Finds tools with both `readOnlyHint: true` and `destructiveHint: true`.

## Why is this bad
One of the two hints is false. Some clients use `readOnlyHint` and run the tool without asking,
others use `destructiveHint` and ask. sayso treats the tool as destructive.

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
        message = "declared both read-only and destructive; one of these hints is false"
        yield Remark(message, ("annotations", "destructiveHint"))
