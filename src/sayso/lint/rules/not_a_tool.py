"""An entry of the list that is no tool.

## What it does
Finds entries of `tools/list` that are no object or have no name.

## Why is this bad
Some clients refuse the whole list for one such entry.

## Example
```json
[{"description": "Voids an invoice."}]
```

## Use instead
```json
[{"name": "void_invoice", "description": "Voids an invoice."}]
```

## Fix
None: what is right is its author's to say.
"""

from collections.abc import Iterator

from sayso.lint.finding import Remark, Severity
from sayso.lint.rule import Rule
from sayso.lint.subject import Listing


def check(server: Listing) -> Iterator[Remark]:
    """One remark for each such entry."""
    for index, what in enumerate(server.broken):
        yield Remark(what, (index,))


RULE = Rule("AV205", "not-a-tool", Severity.ERROR, server=check)
