"""An annotation that the connector directory wants said.

## What it does
Finds tools without a title, or with neither `readOnlyHint: true` nor `destructiveHint`. Looks
under the profile anthropic.

## Why is this bad
The review checks both first, and missing ones are what it sends most servers back for.

## Example
{"name": "list_orders"}

## Use instead
{"name": "list_orders", "annotations": {"title": "List orders", "readOnlyHint": true}}

## Fix
`--fix` writes the title into the annotations where the tool has one beside its name.
"""

from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS702", "anthropic-annotations-missing", Severity.ERROR, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    beside, inside = tool.titles
    if not inside:
        at = ("annotations", "title")
        edits = (Edit(at, beside),) if beside else ()
        yield Remark("the directory wants a title in the annotations", at, edits)
    if not tool.hints.read_only and tool.hints.destructive is None:
        message = "the directory wants readOnlyHint: true or destructiveHint"
        yield Remark(message, ("annotations", "destructiveHint"))
