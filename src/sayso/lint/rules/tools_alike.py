"""Two tools with the same description.

## What it does
Finds tools of one server whose descriptions are identical.

## Why is this bad
Models choose tools by their descriptions. With equal ones, they must guess from the names.

## Example
[{"name": "get_a", "description": "Gets the item."},
 {"name": "get_b", "description": "Gets the item."}]

## Use instead
[{"name": "get_a", "description": "Gets an open item."},
 {"name": "get_b", "description": "Gets an archived item."}]
"""

from collections import defaultdict

from sayso.lint.rule import Remark, Remarks, Rule, Severity, listed
from sayso.lint.subject import Listing


@Rule("SS602", "tools-alike", Severity.WARNING).for_server
def _check(server: Listing) -> Remarks:
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for tool in server.tools:
        if tool.description.strip():
            found[" ".join(tool.description.split()).casefold()][tool.name] = None
    for names in map(list, found.values()):
        if len(names) > 1:
            message = f"same description as {listed(names[1:])}"
            yield Remark(message, ("description",), tools=tuple(names))
