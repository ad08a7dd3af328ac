"""A tool without a description.

## What it does
Finds tools whose description is missing, empty or no text.

## Why is this bad
A model chooses by it. Without one it goes by the name alone, and by what it takes the name to
mean.

## Example
{"name": "void_invoice"}

## Use instead
{"name": "void_invoice", "description": "Voids an open invoice. The number stays taken."}
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS301", "description-missing", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if not tool.description.strip():
        yield Remark("it has no description", ("description",))
