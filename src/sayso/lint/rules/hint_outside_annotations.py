"""A hint that stands beside the annotations.

## What it does
Finds hints that are keys of the tool itself, or of its `_meta`, and not of `annotations`.

## Why is this bad
Nobody reads them there.

## Example
{"name": "get_order", "readOnlyHint": true}

## Use instead
{"name": "get_order", "annotations": {"readOnlyHint": true}}

## Fix
None: what stands there has never counted, and to let it count is for its author to decide.
"""

from sayso.intent import WIRE_NAMES
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS106", "hint-outside-annotations", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for name in WIRE_NAMES.values():
        if name in tool.raw:
            yield Remark(f"{name} stands beside annotations, where nobody reads it", (name,))
        if name in tool.meta:
            yield Remark(f"{name} stands in _meta, where nobody reads it", ("_meta", name))
