"""A writing tool that Anthropic's directory would call destructive.

## What it does
Finds tools that declare `readOnlyHint: false` and `destructiveHint: false`. The rule runs with
`--profile anthropic`.

## Why is this bad
The directory calls a tool destructive if it modifies or deletes data or has an outside effect,
including temporary files and notifications. The MCP specification calls it destructive only if data
may be lost. So the same hint can be right for the specification and wrong for the directory.

## Example
{"name": "add_note", "annotations": {"readOnlyHint": false, "destructiveHint": false}}

## Use instead
{"name": "add_note", "annotations": {"readOnlyHint": false, "destructiveHint": true}}

## Fix
Not automatic. `sayso submit anthropic` writes hints with the directory's meaning into the
submission, and leaves the server's hints unchanged.
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS703", "anthropic-write-not-destructive", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.hints.read_only is False and tool.hints.destructive is False:
        message = "Anthropic's directory counts every writing tool as destructive"
        yield Remark(message, ("annotations", "destructiveHint"))
