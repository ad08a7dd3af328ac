"""A hint that ChatGPT's app review requires is missing.

## What it does
Finds tools, including read-only ones, without explicit `readOnlyHint`, `destructiveHint` and
`openWorldHint`. The rule runs with `--profile openai`.

## Why is this bad
The review requires all three on every tool, each with a justification. Defaults are not accepted.

## Example
{"name": "list_orders", "annotations": {"readOnlyHint": true}}

## Use instead
{"name": "list_orders", "annotations": {"readOnlyHint": true,
 "destructiveHint": false, "openWorldHint": false}}

## Fix
`--fix` writes the values that already apply if the tool declares `readOnlyHint`.
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
    message = (
        f"missing, but ChatGPT requires them: {', '.join(WIRE_NAMES[name] for name in missing)}"
    )
    yield Remark(message, ("annotations",), tuple(edits))
