"""A list entry that is not a tool.

## What it does
Finds entries of `tools/list` that are not JSON objects, or that have no name.

## Why is this bad
Some clients reject the whole list for one such entry.

## Example
[{"description": "Voids an invoice."}]

## Use instead
[{"name": "void_invoice", "description": "Voids an invoice."}]
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Listing


@Rule("SS205", "not-a-tool", Severity.ERROR).for_server
def _check(server: Listing) -> Remarks:
    for index, problem in enumerate(server.broken):
        yield Remark(problem, (index,))
