"""An input schema that accepts unknown arguments.

## What it does
Finds writing tools whose input schema says `additionalProperties: true` at the top level.

## Why is this bad
A misspelled argument is ignored, and the tool runs without it. For example, a delete without its
filter removes too much.

## Example
{"name": "delete_orders", "inputSchema": {"type": "object", "additionalProperties": true,
 "properties": {"before": {"type": "string"}}}}

## Use instead
{"name": "delete_orders", "inputSchema": {"type": "object", "additionalProperties": false,
 "properties": {"before": {"type": "string"}}}}
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS404", "input-open", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.writes and tool.input_schema.get("additionalProperties") is True:
        message = "the input schema accepts unknown arguments (additionalProperties: true)"
        yield Remark(message, ("inputSchema", "additionalProperties"))
