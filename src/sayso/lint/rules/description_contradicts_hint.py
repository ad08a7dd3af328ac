"""A hint that the description denies in so many words.

## What it does
Finds hints that are declared one way while the description says the other: “cannot be undone” or
“permanently deletes” on a tool that is declared read-only or not destructive, “read-only
operation” on one that is declared to write, “idempotent” and “not idempotent”, “searches the web”
on one that is declared closed.

## Why is this bad
One of the two is wrong, and the model and its person believe different ones.

## Example
{"name": "close_account", "description": "Closes the account. This cannot be undone.",
 "annotations": {"readOnlyHint": false, "destructiveHint": false}}

## Use instead
{"name": "close_account", "description": "Closes the account. This cannot be undone.",
 "annotations": {"readOnlyHint": false, "destructiveHint": true}}

## Fix
None: either the hint is wrong or the text is.
"""

from sayso.intent import WIRE_NAMES
from sayso.lint.contradiction import stated
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS115", "description-contradicts-hint", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    for name, words in stated(tool).items():
        said = f"{WIRE_NAMES[name]} is declared {str(tool.hints[name]).lower()}"
        yield Remark(
            f"{said}, but its description says “{words}”", ("annotations", WIRE_NAMES[name])
        )
