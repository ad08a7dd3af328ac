"""A tool that declares none of the four hints.

## What it does
Finds tools without a single one of `readOnlyHint`, `destructiveHint`, `idempotentHint` and
`openWorldHint`.

## Why is this bad
A client must then take the specification's defaults: the tool writes, destroys, must not be
repeated and reaches outside. It asks its person before every call, of a search too; or, worse, it
asks before none.

## Example
{"name": "list_orders", "inputSchema": {"type": "object"}}

## Use instead
{"name": "list_orders", "inputSchema": {"type": "object"},
 "annotations": {"readOnlyHint": true, "openWorldHint": false}}

## Fix
None: what a tool does is its author's to say. `sayso infer` proposes it.
"""

from sayso.intent import WIRE_NAMES
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS101", "no-hints", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if not any(name in tool.annotations for name in WIRE_NAMES.values()):
        yield Remark("it declares no hint, so clients take it for one that destroys")
