"""A hint that has no meaning on a read-only tool.

## What it does
Finds `idempotentHint` on tools declared read-only.

## Why is this bad
The specification gives it a meaning only if `readOnlyHint` is false, so it only takes up space.
`destructiveHint: false` has no meaning on such tools either. It is not reported, because ChatGPT's
app review requires it (SS701). Tools declared with sayso are skipped: they always have all hints.

## Example
{"annotations": {"readOnlyHint": true, "idempotentHint": false}}

## Use instead
{"annotations": {"readOnlyHint": true}}

## Fix
`--fix` removes it.
"""

from sayso.intent import HINT_NAMES, META_KEY, STORE_HINTS, WIRE_NAMES, required_hints
from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject
from sayso.schema import object_of


@Rule("SS107", "meaningless-hint", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    if not tool.hints.read_only or META_KEY in object_of(tool.raw.get("_meta")):
        return
    meant = required_hints(is_read=True, more=STORE_HINTS)
    for name in HINT_NAMES:
        if name not in meant and tool.hints[name] is not None:
            at = ("annotations", WIRE_NAMES[name])
            message = f"{WIRE_NAMES[name]} has no meaning on a read-only tool"
            yield Remark(message, at, (Edit(at),))
