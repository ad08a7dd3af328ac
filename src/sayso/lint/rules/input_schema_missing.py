"""A tool without an input schema.

## What it does
Finds tools whose `inputSchema` is missing or not an object.

## Why is this bad
The protocol requires one. Clients reject the tool or the whole list, and models guess the
arguments.

## Example
{"name": "list_orders"}

## Use instead
{"name": "list_orders", "inputSchema": {"type": "object", "additionalProperties": false}}
"""

from collections.abc import Mapping

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS401", "input-schema-missing", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    if "inputSchema" not in tool.raw:
        yield Remark("inputSchema is missing", ("inputSchema",))
    elif not isinstance(tool.raw["inputSchema"], Mapping):
        yield Remark("inputSchema is not an object", ("inputSchema",))
