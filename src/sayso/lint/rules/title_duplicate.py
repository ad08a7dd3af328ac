"""Two tools with one title.

## What it does
Finds titles that several tools of a server have.

## Why is this bad
Who is asked whether “Update item” may run cannot tell which of them it is.

## Example
[{"name": "update_item", "title": "Update item"}, {"name": "replace_item", "title": "Update item"}]

## Use instead
[{"name": "update_item", "title": "Update item"}, {"name": "replace_item", "title": "Replace item"}]
"""

from collections import defaultdict

from sayso.lint.rule import Remark, Remarks, Rule, Severity, listed
from sayso.lint.subject import Listing


@Rule("SS204", "title-duplicate", Severity.WARNING).for_server
def _check(server: Listing) -> Remarks:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for tool in server.tools:
        if tool.title:
            found[tool.title.casefold()].append(tool.name)
    for names in found.values():
        if len(names) > 1:
            message = f"{listed(names[1:])} has the same title"
            yield Remark(message, ("title",), tools=tuple(names))
