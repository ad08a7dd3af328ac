"""A tool that is declared idempotent and reads like one whose calls each count.

## What it does
Finds tools with `idempotentHint: true` that write, and whose name, description or arguments
suggest that a second call adds to the first: the inference is at least 0.9 sure.

## Why is this bad
What is idempotent is sent again when an answer is lost. Here that makes two of one.

## Example
{"name": "send_mail", "annotations": {"readOnlyHint": false, "idempotentHint": true}}

## Use instead
{"name": "send_mail", "annotations": {"readOnlyHint": false, "idempotentHint": false}}

## Fix
None: either the hint is wrong or the text is.
"""

from sayso.lint.contradiction import contradicted
from sayso.lint.rule import Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS112", "idempotent-contradicted", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.writes:
        yield from contradicted(tool, "idempotent", value=True)
