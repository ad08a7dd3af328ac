"""A permission to break a rule that is not broken.

## What it does
Finds rules that a tool allows although they have nothing to say of it. A rule that was not asked
to look is passed over.

## Why is this bad
What was mended stays permitted, and comes back unseen.

## Example
{"name": "list_orders", "title": "List orders",
 "_meta": {"io.sayso/lint": {"allow": {"title-missing": "our clients show none"}}}}

## Use instead
{"name": "list_orders", "title": "List orders"}

## Fix
`--fix` takes the permission out where it stands in `_meta`.
"""

from sayso.lint.registry import known_rule
from sayso.lint.rule import Edit, Looked, Remark, Remarks, Rule, Severity
from sayso.lint.subject import ALLOW_KEY, Subject


@Rule("SS902", "allow-unused", Severity.WARNING).afterwards
def _check(tool: Subject, looked: Looked) -> Remarks:
    for allowance in tool.allowed:
        rule = known_rule(allowance.word)
        if rule and rule.code in looked.rules and rule.code not in looked.found:
            at = ("_meta", ALLOW_KEY, "allow", allowance.word)
            edits = () if allowance in tool.comments else (Edit(at),)
            yield Remark(f"it allows {allowance.word}, which finds nothing here", at, edits)
