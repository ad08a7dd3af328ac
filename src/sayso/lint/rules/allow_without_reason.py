"""A permission to break a rule that gives no reason.

## What it does
Finds rules that a tool allows in its `_meta` or by a comment on its definition without saying why.
They allow nothing.

## Why is this bad
Whoever reviews the tool later cannot tell whether the reason still holds, or whether there ever
was one.

## Example
```json
{"_meta": {"io.sayso/lint": {"allow": {"open-world-url": ""}}}}
```

## Use instead
```json
{"_meta": {"io.sayso/lint": {"allow":
 {"open-world-url": "only addresses of our own host are taken"}}}}
```

## Fix
None: the reason is its author's.
"""

from collections.abc import Iterator

from sayso.lint.finding import Remark, Severity
from sayso.lint.rule import Rule
from sayso.lint.subject import ALLOW_KEY, Subject


def check(tool: Subject) -> Iterator[Remark]:
    """One remark for each permission without a reason."""
    for one in tool.allowed:
        if not one.reason:
            yield Remark(
                f"it allows {one.word} and does not say why, so it allows nothing",
                ("_meta", ALLOW_KEY, "allow", one.word),
            )


RULE = Rule("AV901", "allow-without-reason", Severity.ERROR, check)
