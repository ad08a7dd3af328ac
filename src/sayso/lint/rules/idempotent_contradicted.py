"""A tool declared idempotent, although repeated calls seem to add up.

## What it does
Finds writing tools with `idempotentHint: true` whose name, description or arguments suggest that a
second call adds to the first, with at least 0.9 confidence.

## Why is this bad
Clients resend idempotent calls when an answer is lost. This tool would then do its work twice.

## Example
{"name": "send_mail", "annotations": {"readOnlyHint": false, "idempotentHint": true}}

## Use instead
{"name": "send_mail", "annotations": {"readOnlyHint": false, "idempotentHint": false}}
"""

from sayso.lint.contradiction import contradicted
from sayso.lint.rule import Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS112", "idempotent-contradicted", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.writes:
        yield from contradicted(tool, "idempotent", value=True)
