"""A tool declared not destructive that looks destructive.

## What it does
Finds writing tools with `destructiveHint: false` whose name, description or arguments suggest that
data is lost, with at least 0.9 confidence.

## Why is this bad
Clients ask before destructive calls. They will not ask before this one.

## Example
{"name": "drop_table", "annotations": {"readOnlyHint": false, "destructiveHint": false}}

## Use instead
{"name": "drop_table", "annotations": {"readOnlyHint": false, "destructiveHint": true}}
"""

from sayso.lint.contradiction import contradicted
from sayso.lint.rule import Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS111", "destructive-contradicted", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.writes:
        yield from contradicted(tool, "destructive", value=False)
