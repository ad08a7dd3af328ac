"""A required argument that is not among the properties.

## What it does
Finds names in `required` that are not in `properties`. Schemas with `allOf`, `patternProperties` or
`$ref` are skipped.

## Why is this bad
Every call without the argument is rejected, but the model does not know its type or meaning.
Usually a property was renamed, and `required` was not.

## Example
{"type": "object", "properties": {"order_id": {}}, "required": ["id"]}

## Use instead
{"type": "object", "properties": {"order_id": {}}, "required": ["order_id"]}
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject
from sayso.schema import list_of, object_of


@Rule("SS409", "required-unknown", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    schema = tool.input_schema
    properties = object_of(schema.get("properties"))
    if "patternProperties" in schema or "allOf" in schema or "$ref" in schema:
        return
    for name in list_of(schema.get("required")):
        if isinstance(name, str) and name not in properties:
            message = f"required argument {name} is not in properties"
            yield Remark(message, ("inputSchema", "required", name))
