"""A hint that is left out where others are declared.

## What it does
Finds tools that declare some hints and leave out one that has a meaning: `readOnlyHint`,
`openWorldHint`, and `destructiveHint` and `idempotentHint` where the tool is not read-only.

## Why is this bad
What is left out has a default, and each default is the strict one: a tool that says only
`openWorldHint: false` counts as one that destroys. Few authors mean that, and no reader can tell.

## Example
{"name": "add_note", "annotations": {"readOnlyHint": false}}

## Use instead
{"name": "add_note", "annotations": {"readOnlyHint": false, "destructiveHint": false,
 "idempotentHint": false, "openWorldHint": false}}

## Fix
`--fix` writes the default of each hint that is left out: it says in words what already holds.
"""

from sayso.intent import WIRE_NAMES, HintName, required_hints
from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS102", "hint-missing", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    hints = tool.hints
    counts = required_hints(is_read=bool(hints.read_only))
    missing: list[HintName] = [name for name in counts if WIRE_NAMES[name] not in tool.annotations]
    if not missing or not any(name in tool.annotations for name in WIRE_NAMES.values()):
        return
    complete = hints.with_defaults()
    edits = tuple(Edit(("annotations", WIRE_NAMES[name]), complete[name]) for name in missing)
    said = ", ".join(
        f"{WIRE_NAMES[name]} (counts as {str(complete[name]).lower()})" for name in missing
    )
    yield Remark(f"not declared: {said}", ("annotations",), edits)
