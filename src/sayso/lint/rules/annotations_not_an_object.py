"""Annotations that are not an object.

## What it does
Finds tools whose `annotations` are a list, a string or another value that is not an object.

## Why is this bad
Clients cannot read the hints, and some reject the whole list.

## Example
{"name": "get_order", "annotations": ["readOnlyHint"]}

## Use instead
{"name": "get_order", "annotations": {"readOnlyHint": true}}
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS104", "annotations-not-an-object", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for found in tool.declaration.findings:
        if found.code == "annotations-not-an-object":
            yield Remark(found.message, ("annotations",))
