"""A schema that no finite value matches.

## What it does
Finds schemas in which a required part requires itself again, such as a `$ref` to itself or a node
that requires another node. A tree whose branches may be empty is fine.

## Why is this bad
No call can match the schema, and programs that follow the references may never finish.

## Example
{"$defs": {"node": {"type": "object", "required": ["next"],
 "properties": {"next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"}

## Use instead
{"$defs": {"node": {"type": "object",
 "properties": {"next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"}
"""

from sayso.lint.references import never_ends
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS410", "endless-reference", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for key, schema in tool.schemas_with_references():
        if schema and never_ends(schema):
            yield Remark(f"the {key} refers to itself without end", (key,))
