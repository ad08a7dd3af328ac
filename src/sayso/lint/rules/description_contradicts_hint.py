"""A description that contradicts a declared hint in plain words.

## What it does
Finds descriptions that say the opposite of a hint: “cannot be undone” or “permanently deletes” on a
tool declared read-only or not destructive, “read-only operation” on one declared to write,
“idempotent” or “not idempotent”, and “searches the web” on one declared closed-world.

## Why is this bad
One of them is wrong, and the model and its user may believe different ones.

## Example
{"name": "close_account", "description": "Closes the account. This cannot be undone.",
 "annotations": {"readOnlyHint": false, "destructiveHint": false}}

## Use instead
{"name": "close_account", "description": "Closes the account. This cannot be undone.",
 "annotations": {"readOnlyHint": false, "destructiveHint": true}}
"""

from sayso.intent import WIRE_NAMES
from sayso.lint.contradiction import stated
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS115", "description-contradicts-hint", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    for name, words in stated(tool).items():
        claim = f"{WIRE_NAMES[name]} is declared {str(tool.hints[name]).lower()}"
        message = f"{claim}, but the description says “{words}”"
        yield Remark(message, ("annotations", WIRE_NAMES[name]))
