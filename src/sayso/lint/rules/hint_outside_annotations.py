"""A hint outside the annotations.

## What it does
Finds hints that are keys of the tool itself or of its `_meta`.

## Why is this bad
Clients read hints only from `annotations`.

## Example
{"name": "get_order", "readOnlyHint": true}

## Use instead
{"name": "get_order", "annotations": {"readOnlyHint": true}}

## Fix
Not automatic: clients ignored the hint so far, so the author must decide whether it is right.
"""

from sayso.intent import WIRE_NAMES
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS106", "hint-outside-annotations", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for name in WIRE_NAMES.values():
        if name in tool.raw:
            yield Remark(f"{name} is outside annotations, where clients ignore it", (name,))
        if name in tool.meta:
            yield Remark(f"{name} is in _meta, where clients ignore it", ("_meta", name))
