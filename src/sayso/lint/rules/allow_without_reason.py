"""An allowance without a reason.

## What it does
Finds allowances, in `_meta` or in a comment on the definition, that give no reason. They have no
effect.

## Why is this bad
A reviewer cannot check whether the exception is still justified.

## Example
{"_meta": {"io.sayso/lint": {"allow": {"open-world-url": ""}}}}

## Use instead
{"_meta": {"io.sayso/lint": {"allow":
 {"open-world-url": "only addresses of our own host are taken"}}}}

## Fix
Not automatic: only the author knows the reason.
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import ALLOW_KEY, Subject


@Rule("SS901", "allow-without-reason", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for allowance in tool.allowed:
        if not allowance.reason:
            yield Remark(
                f"allow of {allowance.word} needs a reason; without one it has no effect",
                ("_meta", ALLOW_KEY, "allow", allowance.word),
            )
