"""A reference that leads nowhere, or out of the schema.

## What it does
Finds a `$ref` that points at nothing in the same schema, or at another document.

## Why is this bad
Clients do not fetch other documents, and should not: a server's list could make them call
anywhere. What is behind the reference is then unknown.

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
                yield Remark(f"its {key} refers to another document: {shown}", (key, reference))
            elif reference.startswith("#/") and target(schema, reference) is None:
                yield Remark(f"its {key} refers to nothing: {shown}", (key, reference))
