"""Two tools with the same name.

## What it does
Finds names that several entries of a list share.

## Why is this bad
A call carries only the name, so it is undefined which tool runs.

## Example
[{"name": "void"}, {"name": "void"}]

## Use instead
[{"name": "void_invoice"}, {"name": "void_order"}]
"""

from collections import Counter

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Listing


@Rule("SS208", "name-duplicate", Severity.ERROR).for_server
def _check(server: Listing) -> Remarks:
    for name, count in Counter(tool.name for tool in server.tools).items():
        if count > 1:
            yield Remark(f"{count} tools share this name", ("name",), tools=(name,))
