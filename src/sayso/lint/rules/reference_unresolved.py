"""A reference that leads nowhere, or out of the schema.

## What it does
Finds a `$ref` that points at nothing in the same schema, or at another document.

## Why is this bad
Clients do not fetch other documents, and should not: a server's list could make them call
anywhere. What is behind the reference is then unknown.

## Example
```json
{"properties": {"order": {"$ref": "#/$defs/Order"}}}
```

## Use instead
```json
{"$defs": {"Order": {"type": "object"}}, "properties": {"order": {"$ref": "#/$defs/Order"}}}
```
"""

from collections.abc import Iterator

from sayso.lint.references import leads_outside, references, target
from sayso.lint.rule import Remark, Rule, Severity
from sayso.lint.subject import Subject

_SHOWN = 100


def _check(tool: Subject) -> Iterator[Remark]:
    for key in ("inputSchema", "outputSchema") if tool.has_references else ():
        schema = tool.raw.get(key)
        for reference in sorted(set(references(schema))):
            if leads_outside(reference):
                yield Remark(
                    f"its {key} refers to another document: {reference[:_SHOWN]}", (key, reference)
                )
            elif reference.startswith("#/") and target(schema, reference) is None:
                yield Remark(f"its {key} refers to nothing: {reference[:_SHOWN]}", (key, reference))


RULE = Rule("AV411", "reference-unresolved", Severity.ERROR, _check)
