"""A tool without a title.

## What it does
Finds tools that have a title neither beside their name nor among their annotations.

## Why is this bad
People are shown the name, which is written for programs: in a client's menu, and in the question
whether the call may run.

## Example
{"name": "crm_inv_void_v2"}

## Use instead
{"name": "crm_inv_void_v2", "title": "Void an invoice"}

## Fix
`--fix` writes the title that sayso would show, made of the words of the name.
"""

from sayso.catalog import derive_title
from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS201", "title-missing", Severity.NOTE).for_tool
def _check(tool: Subject) -> Remarks:
    if not tool.title:
        edits = (Edit(("title",), derive_title(tool.name)),)
        yield Remark("it has no title, so people are shown its name", ("title",), edits)
