"""A tool without a title.

## What it does
Finds tools with a title neither at the top level nor in the annotations.

## Why is this bad
Menus and approval questions show the name, which is written for programs.

## Example
{"name": "crm_inv_void_v2"}

## Use instead
{"name": "crm_inv_void_v2", "title": "Void an invoice"}

## Fix
`--fix` writes the title that sayso would show, made from the words of the name.
"""

from sayso.catalog import derive_title
from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS201", "title-missing", Severity.NOTE).for_tool
def _check(tool: Subject) -> Remarks:
    if not tool.title:
        edits = (Edit(("title",), derive_title(tool.name)),)
        yield Remark("title is missing, so clients show the name", ("title",), edits)
