"""A tool without a schema of its arguments.

## What it does
Finds tools whose `inputSchema` is missing or no object.

## Why is this bad
The protocol requires one. Clients refuse the tool or the whole list, and a model must guess what
to send.

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
        yield Remark("it has no inputSchema", ("inputSchema",))
    elif not isinstance(tool.raw["inputSchema"], Mapping):
        yield Remark("its inputSchema is not an object", ("inputSchema",))
