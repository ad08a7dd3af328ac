"""An allowance for a rule that reports nothing.

## What it does
Finds allowances for rules that ran and did not report the tool.

## Why is this bad
Once a problem is fixed, its allowance hides the problem if it returns.

## Example
{"name": "list_orders", "title": "List orders",
 "_meta": {"io.sayso/lint": {"allow": {"title-missing": "our clients show none"}}}}

## Use instead
{"name": "list_orders", "title": "List orders"}

## Fix
`--fix` removes the allowance if it is in `_meta`.
"""

from sayso.lint.registry import known_rule
from sayso.lint.rule import Edit, Outcome, Remark, Remarks, Rule, Severity
from sayso.lint.subject import ALLOW_KEY, Subject


@Rule("SS902", "allow-unused", Severity.WARNING).afterwards
def _check(tool: Subject, outcome: Outcome) -> Remarks:
    for allowance in tool.allowed:
        rule = known_rule(allowance.word)
        if rule and rule.code in outcome.ran and rule.code not in outcome.reported:
            at = ("_meta", ALLOW_KEY, "allow", allowance.word)
            edits = () if allowance in tool.comments else (Edit(at),)
            yield Remark(f"unused allow: {allowance.word} does not report this tool", at, edits)
