"""A tool that is declared additive and reads like one that destroys.

## What it does
Finds tools with `destructiveHint: false` that write, and whose name, description or arguments
suggest that something is lost by it: the inference is at least 0.9 sure.

## Why is this bad
Clients ask a person before what destroys. Here they will not.

## Example
{"name": "drop_table", "annotations": {"readOnlyHint": false, "destructiveHint": false}}

## Use instead
{"name": "drop_table", "annotations": {"readOnlyHint": false, "destructiveHint": true}}

## Fix
None: either the hint is wrong or the text is.
"""

from sayso.lint.contradiction import contradicted
from sayso.lint.rule import Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS111", "destructive-contradicted", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.writes:
        yield from contradicted(tool, "destructive", value=False)
