"""A permission to break a rule that there is not.

## What it does
Finds names in a tool's permissions that no rule has, neither as its code nor as its name.

## Why is this bad
A slip of the pen allows nothing, and its author believes that it does.

## Example
{"_meta": {"io.sayso/lint": {"allow": {"title-mising": "our clients show none"}}}}

## Use instead
{"_meta": {"io.sayso/lint": {"allow": {"title-missing": "our clients show none"}}}}

## Fix
None. `sayso rule` lists the names.
"""

from sayso.lint.registry import known_rule
from sayso.lint.rule import Looked, Remark, Remarks, Rule, Severity
from sayso.lint.subject import ALLOW_KEY, Subject


@Rule("SS903", "allow-unknown", Severity.ERROR).afterwards
def _check(tool: Subject, looked: Looked) -> Remarks:  # noqa: ARG001 - as all that look late
    for allowance in tool.allowed:
        if known_rule(allowance.word) is None:
            at = ("_meta", ALLOW_KEY, "allow", allowance.word)
            yield Remark(f"it allows {allowance.word[:60]}, and there is no such rule", at)
