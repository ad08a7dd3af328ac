"""A tool that declares none of the four hints.

## What it does
Finds tools without `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint`.

## Why is this bad
The specification's defaults apply: the tool writes, is destructive, must not be repeated and
reaches outside. Some clients then ask before every call, even a search. Others never ask.

## Example
{"name": "list_orders", "inputSchema": {"type": "object"}}

## Use instead
{"name": "list_orders", "inputSchema": {"type": "object"},
 "annotations": {"readOnlyHint": true, "openWorldHint": false}}

## Fix
Not automatic: only the author knows what the tool does. `sayso infer` proposes hints.
"""

from sayso.intent import WIRE_NAMES
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS101", "no-hints", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if not any(name in tool.annotations for name in WIRE_NAMES.values()):
        yield Remark("all four hints are missing; by default the tool counts as destructive")
