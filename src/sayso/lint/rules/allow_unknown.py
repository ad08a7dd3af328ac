"""An allowance for a rule that does not exist.

## What it does
Finds allowances (permissions to break a rule) whose rule has no such code or name.

## Why is this bad
A misspelled allowance has no effect, and its author does not notice.

## Example
{"_meta": {"io.sayso/lint": {"allow": {"title-mising": "our clients show none"}}}}

## Use instead
{"_meta": {"io.sayso/lint": {"allow": {"title-missing": "our clients show none"}}}}

## Fix
Not automatic. `sayso rule` lists the names.
"""

from sayso.lint.registry import known_rule
from sayso.lint.rule import Outcome, Remark, Remarks, Rule, Severity
from sayso.lint.subject import ALLOW_KEY, Subject


@Rule("SS903", "allow-unknown", Severity.ERROR).afterwards
def _check(tool: Subject, outcome: Outcome) -> Remarks:  # noqa: ARG001 - the signature of late checks
    for allowance in tool.allowed:
        if known_rule(allowance.word) is None:
            at = ("_meta", ALLOW_KEY, "allow", allowance.word)
            yield Remark(f"unknown rule in allow: {allowance.word[:60]}", at)
