"""A tool without a description.

## What it does
Finds tools whose description is missing, empty or not a string.

## Why is this bad
Models choose tools by their descriptions. Without one, the model guesses from the name.

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
        yield Remark("description is missing", ("description",))
