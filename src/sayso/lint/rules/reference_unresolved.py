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

## Fix
None: what is right is its author's to say.
"""

from collections.abc import Iterator

from sayso.lint.finding import Remark, Severity
from sayso.lint.references import leads_outside, references, target
from sayso.lint.rule import Rule
from sayso.lint.subject import Subject

_SHOWN = 100


def check(tool: Subject) -> Iterator[Remark]:
    """One remark for each such reference, each told once."""
    for key in ("inputSchema", "outputSchema") if tool.has_references else ():
        schema = tool.raw.get(key)
        for one in sorted(set(references(schema))):
            if leads_outside(one):
                yield Remark(f"its {key} refers to another document: {one[:_SHOWN]}", (key, one))
            elif one.startswith("#/") and target(schema, one) is None:
                yield Remark(f"its {key} refers to nothing: {one[:_SHOWN]}", (key, one))


RULE = Rule("AV411", "reference-unresolved", Severity.ERROR, check)
