"""An input schema that lets anything in.

## What it does
Finds tools that write and whose input schema says `additionalProperties: true`, at the top.

## Why is this bad
A misspelled argument passes unseen, and the tool runs without it: a filter that is left out
deletes more than was meant.

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
        message = "its input schema takes arguments that it does not name"
        yield Remark(message, ("inputSchema", "additionalProperties"))
