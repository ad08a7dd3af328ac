"""A hint that ChatGPT's app review wants said.

## What it does
Finds tools without explicit `readOnlyHint`, `destructiveHint` and `openWorldHint`, on tools that
only read as well. Looks under the profile openai.

## Why is this bad
The review asks for all three on every tool, with a sentence of justification for each, and turns
down what leaves one to its default.

## Example
{"name": "list_orders", "annotations": {"readOnlyHint": true}}

## Use instead
{"name": "list_orders", "annotations": {"readOnlyHint": true,
 "destructiveHint": false, "openWorldHint": false}}

## Fix
`--fix` writes what already holds of a tool that declares readOnlyHint.
"""

from sayso.intent import STORE_HINTS, WIRE_NAMES, HintName
from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS701", "openai-hints-missing", Severity.ERROR, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    hints = tool.hints
    missing: list[HintName] = [name for name in STORE_HINTS if hints[name] is None]
    if not missing:
        return
    complete = hints.with_defaults()
    edits: list[Edit] = []
    if hints.read_only is not None:
        edits = [Edit(("annotations", WIRE_NAMES[name]), complete[name]) for name in missing]
    message = f"the review wants explicit: {', '.join(WIRE_NAMES[name] for name in missing)}"
    yield Remark(message, ("annotations",), tuple(edits))
