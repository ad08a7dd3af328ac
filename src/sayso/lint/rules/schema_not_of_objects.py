"""A schema at the top that is not one of objects.

## What it does
Finds input and output schemas whose top does not say `"type": "object"`.

## Why is this bad
The protocol requires it of both. Clients that read the schema strictly refuse the list.

## Example
{"inputSchema": {"properties": {"id": {"type": "string"}}}}

## Use instead
{"inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}}

## Fix
`--fix` writes it where it is left out and there are properties.
"""

from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject, as_object


@Rule("SS403", "schema-not-of-objects", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for key in ("inputSchema", "outputSchema"):
        if key not in tool.raw or tool.raw[key] is None:
            continue
        schema = as_object(tool.raw[key])
        kind = schema.get("type")
        if "type" not in schema and "properties" in schema:
            edits = (Edit((key, "type"), "object"),)
            yield Remark(f"its {key} does not say that it is of type object", (key,), edits)
        elif kind != "object" and isinstance(tool.raw[key], dict):
            yield Remark(f"its {key} is not of type object", (key,))
