"""A tool that writes and is not what the directory calls destructive.

## What it does
Finds tools that are declared to write and not to destroy. Looks under the profile anthropic.

## Why is this bad
There `destructiveHint` means that a tool modifies or deletes, or has an effect outside, temporary
files and notifications included; the specification means that something is lost. A true hint by
the one is a false one by the other.

## Example
{"name": "add_note", "annotations": {"readOnlyHint": false, "destructiveHint": false}}

## Use instead
{"name": "add_note", "annotations": {"readOnlyHint": false, "destructiveHint": true}}

## Fix
None: `sayso submit anthropic` writes hints as that store means them, and leaves the server's own
alone.
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS703", "anthropic-write-not-destructive", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.hints.read_only is False and tool.hints.destructive is False:
        message = "it writes, which the directory calls destructive"
        yield Remark(message, ("annotations", "destructiveHint"))
