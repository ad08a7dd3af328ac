"""An annotation that the connector directory requires is missing.

## What it does
Finds tools without an annotation `title`, and tools with neither `readOnlyHint: true` nor
`destructiveHint`. The rule runs with `--profile anthropic`.

## Why is this bad
The review checks both first. Missing annotations are its most common reason for rejection.

## Example
{"name": "list_orders"}

## Use instead
{"name": "list_orders", "annotations": {"title": "List orders", "readOnlyHint": true}}

## Fix
`--fix` copies the tool's `title` into the annotations.
"""

from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS702", "anthropic-annotations-missing", Severity.ERROR, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    top, inside = tool.titles
    if not inside:
        at = ("annotations", "title")
        edits = (Edit(at, top),) if top else ()
        yield Remark("Anthropic's directory requires annotations.title", at, edits)
    if not tool.hints.read_only and tool.hints.destructive is None:
        message = "Anthropic's directory requires readOnlyHint: true or a destructiveHint"
        yield Remark(message, ("annotations", "destructiveHint"))
