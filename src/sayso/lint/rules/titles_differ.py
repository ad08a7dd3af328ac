"""A tool with two different titles.

## What it does
Finds tools whose `title` differs from the title in their annotations.

## Why is this bad
Some clients show the first title and others the second, so people may not recognize the tool.

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
        message = f"the title is “{one}”, but annotations.title is “{other}”"
        yield Remark(message, ("annotations", "title"))
