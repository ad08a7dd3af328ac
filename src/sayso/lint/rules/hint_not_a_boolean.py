"""A hint whose value is not a boolean.

## What it does
Finds hints declared as a string, a number or `null`.

## Why is this bad
The protocol requires booleans. Some clients reject the whole list, others read `"false"` as true;
sayso treats the hint as not declared.

## Example
{"annotations": {"readOnlyHint": "true"}}

## Use instead
{"annotations": {"readOnlyHint": true}}

## Fix
`--fix` removes `null`. Other values are not changed, because only the author knows their meaning.
"""

from sayso.intent import WIRE_NAMES
from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS103", "hint-not-a-boolean", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for found in tool.declaration.findings:
        if found.code == "hint-not-a-boolean" and found.hint:
            at = ("annotations", WIRE_NAMES[found.hint])
            is_null = tool.annotations[at[1]] is None
            yield Remark(found.message, at, (Edit(at),) if is_null else ())
