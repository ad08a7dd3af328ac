"""A schema whose top level is not an object.

## What it does
Finds input and output schemas without `"type": "object"` at the top level.

## Why is this bad
The protocol requires it. Strict clients reject the list.

## Example
{"inputSchema": {"properties": {"id": {"type": "string"}}}}

## Use instead
{"inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}}

## Fix
`--fix` adds it to schemas that have `properties` but no `type`.
"""

from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject
from sayso.schema import object_of


@Rule("SS403", "schema-not-of-objects", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for key in ("inputSchema", "outputSchema"):
        if key not in tool.raw or tool.raw[key] is None:
            continue
        schema = object_of(tool.raw[key])
        kind = schema.get("type")
        if "type" not in schema and "properties" in schema:
            edits = (Edit((key, "type"), "object"),)
            yield Remark(f'the {key} needs "type": "object"', (key,), edits)
        elif kind != "object" and isinstance(tool.raw[key], dict):
            yield Remark(f'the {key} must have "type": "object"', (key,))
