"""A tool without a schema of its result.

## What it does
Finds tools that declare no `outputSchema`.

## Why is this bad
What comes back cannot be checked, stripped to what was promised, or cut without breaking it. Many
tools answer in prose and rightly have none, so this is not on by default.

## Example
```json
{"name": "get_order"}
```

## Use instead
```json
{"name": "get_order", "outputSchema": {"type": "object",
 "properties": {"total": {"type": "number"}}}}
```

## Fix
None: what is right is its author's to say.
"""

from collections.abc import Iterator

from sayso.lint.finding import Remark, Severity
from sayso.lint.rule import Rule
from sayso.lint.subject import Subject


def check(tool: Subject) -> Iterator[Remark]:
    """One remark where there is none."""
    if tool.raw.get("outputSchema") is None:
        yield Remark("it has no outputSchema", ("outputSchema",))


RULE = Rule("AV408", "output-schema-missing", Severity.NOTE, check, is_default=False)
