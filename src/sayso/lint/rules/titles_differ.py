"""A tool with two different titles.

## What it does
Finds tools whose `title` differs from the title in their annotations.

## Why is this bad
Clients show one or the other, so people may not recognize the same tool.

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
        message = f"two titles: “{one}”, and “{other}” in the annotations"
        yield Remark(message, ("annotations", "title"))
