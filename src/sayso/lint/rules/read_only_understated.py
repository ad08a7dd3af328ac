"""A tool that is declared to write and reads like one that reads.

## What it does
Finds tools with `readOnlyHint: false` whose name and texts suggest that they only read: the
inference is at least 0.98 sure.

## Why is this bad
Its person is asked for nothing, and learns to press the button without reading.

## Example
{"name": "list_orders", "annotations": {"readOnlyHint": false}}

## Use instead
{"name": "list_orders", "annotations": {"readOnlyHint": true}}

## Fix
None: to loosen a hint is its author's to do.
"""

from sayso.intent import THRESHOLD
from sayso.lint.contradiction import contradicted
from sayso.lint.rule import Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS114", "read-only-understated", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    yield from contradicted(tool, "read_only", value=False, at_least=THRESHOLD)
