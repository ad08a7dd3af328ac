"""A reference to nothing, or to another document.

## What it does
Finds `$ref` values that point to nothing in the same schema, or to another document.

## Why is this bad
Clients do not fetch other documents, because a tool list could then make them call any address. So
the referenced part of the schema is unknown.

## Example
{"properties": {"order": {"$ref": "#/$defs/Order"}}}

## Use instead
{"$defs": {"Order": {"type": "object"}}, "properties": {"order": {"$ref": "#/$defs/Order"}}}
"""

from sayso.lint.references import references, target
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_SHOWN = 100


@Rule("SS411", "reference-unresolved", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for key, schema in tool.schemas_with_references():
        for reference in sorted(set(references(schema))):
            shown = reference[:_SHOWN]
            if not reference.startswith("#"):
                yield Remark(f"the {key} refers to another document: {shown}", (key, reference))
            elif reference.startswith("#/") and target(schema, reference) is None:
                yield Remark(f"the {key} has a dangling reference: {shown}", (key, reference))
