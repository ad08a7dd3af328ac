"""A hint that a run of the tool has refuted.

## What it does
Finds declared hints that a receipt for this tool refutes.

## Why is this bad
A receipt records what the tool did when it ran, so the hint is false.

## Example
{"name": "get_order", "annotations": {"readOnlyHint": true}}

## Use instead
{"name": "get_order", "annotations": {"readOnlyHint": false, "destructiveHint": false}}
"""

from sayso.intent import HINT_NAMES, LOOSER, WIRE_NAMES
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS109", "hint-refuted", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for name in HINT_NAMES:
        if tool.verdicts.get(name) == "refuted" and tool.hints[name] is LOOSER[name]:
            value = str(LOOSER[name]).lower()
            message = f"{WIRE_NAMES[name]} is declared {value}, but a receipt refutes it"
            yield Remark(message, ("annotations", WIRE_NAMES[name]))
