"""Two titles that are not the same.

## What it does
Finds tools with one title beside their name and another among their annotations.

## Why is this bad
Which of them people see depends on their client, and what one person approves another does not
recognise.

## Example
{"name": "void", "title": "Void an invoice", "annotations": {"title": "Cancel"}}

## Use instead
{"name": "void", "title": "Void an invoice"}
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS203", "titles-differ", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    one, other = tool.titles
    if one and other and one != other:
        message = f"it is titled “{one}” in one place and “{other}” in the other"
        yield Remark(message, ("annotations", "title"))
