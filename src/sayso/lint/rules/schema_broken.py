"""A schema that is none.

## What it does
Finds input and output schemas that break JSON Schema 2020-12: unknown types, a `required` that is
no list, patterns that are none.

## Why is this bad
No client can check what it sends or gets. Several refuse the whole list.

## Example
```json
{"inputSchema": {"type": "object", "properties": {"n": {"type": "int"}}}}
```

## Use instead
```json
{"inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
```
"""

from collections.abc import Iterator

from sayso.lint.rule import Remark, Rule, Severity
from sayso.lint.schemas import fault_of
from sayso.lint.subject import Subject, as_object


def _check(tool: Subject) -> Iterator[Remark]:
    for key in ("inputSchema", "outputSchema"):
        fault = fault_of(as_object(tool.raw.get(key)))
        if fault:
            yield Remark(f"its {key} is no JSON Schema: {fault}", (key,))


RULE = Rule("AV402", "schema-broken", Severity.ERROR, _check)
