"""A description that contradicts a declared hint in plain words.

## What it does
Finds descriptions with a phrase that says the opposite of a declared hint. Examples: “cannot be
undone” with `destructiveHint: false`, “read-only operation” with `readOnlyHint: false`, “not
idempotent” with `idempotentHint: true`, “searches the web” with `openWorldHint: false`.

## Why is this bad
Either the description or the hint is wrong. The model reads one, and the client uses the other.

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
