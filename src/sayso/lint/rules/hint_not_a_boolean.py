"""A hint whose value is not true or false.

## What it does
Finds hints that are declared as a text, a number or `null`.

## Why is this bad
The protocol has booleans there. Some clients refuse the whole list for one such value, others take
`"false"` for true; sayso counts it as not declared.

## Example
{"annotations": {"readOnlyHint": "true"}}

## Use instead
{"annotations": {"readOnlyHint": true}}

## Fix
`--fix` takes `null` out, which says nothing. What any other value was meant to say is its author's
to tell.
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
