"""A permission to break a rule that gives no reason.

## What it does
Finds rules that a tool allows in its `_meta` or by a comment on its definition without saying why.
They allow nothing.

## Why is this bad
Whoever reviews the tool later cannot tell whether the reason still holds, or whether there ever
was one.

## Example
{"_meta": {"io.sayso/lint": {"allow": {"open-world-url": ""}}}}

## Use instead
{"_meta": {"io.sayso/lint": {"allow":
 {"open-world-url": "only addresses of our own host are taken"}}}}

## Fix
None: the reason is its author's.
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import ALLOW_KEY, Subject


@Rule("SS901", "allow-without-reason", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for allowance in tool.allowed:
        if not allowance.reason:
            yield Remark(
                f"it allows {allowance.word} and does not say why, so it allows nothing",
                ("_meta", ALLOW_KEY, "allow", allowance.word),
            )
