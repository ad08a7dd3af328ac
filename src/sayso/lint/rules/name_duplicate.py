"""Two tools with one name.

## What it does
Finds names that several entries of one list have.

## Why is this bad
A call says only the name. Which of them runs is chance.

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
            yield Remark(f"{count} tools have this name", ("name",), tools=(name,))
