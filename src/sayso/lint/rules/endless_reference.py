"""A schema that no finite value fits.

## What it does
Finds schemas in which what is required leads back to itself: a `$ref` that points at itself, a
node that must hold a node. A tree whose branches may be empty is sound.

## Why is this bad
No call can ever fit, and programs that follow the references do not come back.

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
            yield Remark(f"its {key} requires what leads back to itself without end", (key,))
