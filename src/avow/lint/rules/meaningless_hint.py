"""A hint that says nothing beside readOnlyHint.

## What it does
Finds `destructiveHint: false` and any `idempotentHint` on tools that are declared read-only.

## Why is this bad
The specification gives both a meaning only where `readOnlyHint` is false. They cost room in every
list, and a reader who compares them with the tool learns nothing. Some stores want
`destructiveHint` all the same, so this is not on by default. Tools that are
declared with avow are left out: it says all four for them.

## Example
```json
{"annotations": {"readOnlyHint": true, "idempotentHint": false}}
```

## Use instead
```json
{"annotations": {"readOnlyHint": true}}
```

## Fix
`--fix` takes them out.
"""

from collections.abc import Iterator

from avow.intent import META_KEY
from avow.lint.finding import Edit, Remark, Severity
from avow.lint.rule import Rule
from avow.lint.subject import Subject, as_object


def check(tool: Subject) -> Iterator[Remark]:
    """One remark for each such hint."""
    if not tool.hints.read_only or META_KEY in as_object(tool.raw.get("_meta")):
        return
    said = tool.annotations
    names = ["idempotentHint"] if isinstance(said.get("idempotentHint"), bool) else []
    names += ["destructiveHint"] if said.get("destructiveHint") is False else []
    for name in names:
        at = ("annotations", name)
        yield Remark(f"{name} has no meaning on a read-only tool", at, (Edit(at),))


RULE = Rule("AV107", "meaningless-hint", Severity.NOTE, check, is_default=False)
