"""A hint that is missing while others are declared.

## What it does
Finds tools that declare some hints but omit others. Every tool needs `readOnlyHint` and
`openWorldHint`. A tool that is not read-only also needs `destructiveHint` and `idempotentHint`.

## Why is this bad
A missing hint has the strict default: a tool that declares only `openWorldHint: false` counts as
destructive. Readers cannot know whether the author meant that.

## Example
{"name": "add_note", "annotations": {"readOnlyHint": false}}

## Use instead
{"name": "add_note", "annotations": {"readOnlyHint": false, "destructiveHint": false,
 "idempotentHint": false, "openWorldHint": false}}

## Fix
`--fix` writes the default of each missing hint, which already applies.
"""

from sayso.intent import WIRE_NAMES, HintName, required_hints
from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS102", "hint-missing", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    hints = tool.hints
    required = required_hints(is_read=bool(hints.read_only))
    missing: list[HintName] = [
        name for name in required if WIRE_NAMES[name] not in tool.annotations
    ]
    if not missing or not any(name in tool.annotations for name in WIRE_NAMES.values()):
        return
    complete = hints.with_defaults()
    edits = tuple(Edit(("annotations", WIRE_NAMES[name]), complete[name]) for name in missing)
    names = ", ".join(
        f"{WIRE_NAMES[name]} (defaults to {str(complete[name]).lower()})" for name in missing
    )
    yield Remark(f"missing: {names}", ("annotations",), edits)
