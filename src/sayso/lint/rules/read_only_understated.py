"""A tool declared to write that seems to read only.

## What it does
Finds tools with `readOnlyHint: false` whose name and texts suggest that they only read, with at
least 0.98 confidence.

## Why is this bad
People are asked about harmless calls, and learn to approve without reading.

## Example
{"name": "list_orders", "annotations": {"readOnlyHint": false}}

## Use instead
{"name": "list_orders", "annotations": {"readOnlyHint": true}}

## Fix
Not automatic: only the author may loosen a hint.
"""

from sayso.intent import THRESHOLD
from sayso.lint.contradiction import contradicted
from sayso.lint.rule import Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS114", "read-only-understated", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    yield from contradicted(tool, "read_only", value=False, at_least=THRESHOLD)
