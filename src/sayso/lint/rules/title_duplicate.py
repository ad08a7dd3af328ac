"""Two tools with the same title.

## What it does
Finds titles that several tools of a server share.

## Why is this bad
A person who is asked about “Update item” cannot tell which tool is meant.

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
            message = f"same title as {listed(names[1:])}"
            yield Remark(message, ("title",), tools=tuple(names))
