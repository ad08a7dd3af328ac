"""A description that names a tool which is not there.

## What it does
Finds descriptions that send the model to a tool of the same server by name (“use the `list_orders`
tool”) where the list has no such tool.

## Why is this bad
The model calls what is not there, or gives up. A list may be cut to what its caller may see, so
this is not on by default.

## Example
```json
[{"name": "void", "description": "First call the `list_orders` tool."}]
```

## Use instead
```json
[{"name": "void"}, {"name": "list_orders"}]
```

## Fix
None: what is right is its author's to say.
"""

import re
from collections.abc import Iterator
from typing import Final

from sayso.lint.finding import Remark, Severity
from sayso.lint.rule import Rule
from sayso.lint.subject import Listing

_NAMED: Final = re.compile(
    r"\b(?:use|call|run|invoke|see|with|from|by)\s(?:the\s)?[`'\"]?"
    r"([a-z][a-z0-9]{1,40}(?:_[a-z0-9]{1,40}){1,6})[`'\"]?\s(?:tool|mcp tool)\b"
)


def check(server: Listing) -> Iterator[Remark]:
    """One remark for each tool whose description names some, with the first of them."""
    for tool in server.tools:
        if "tool" not in tool.description:
            continue
        properties = {one.name for one in tool.parameters}
        for one in _NAMED.finditer(tool.description):
            if one[1] not in server.names and one[1] not in properties:
                message = f"it sends the model to {one[1]}, which is not in the list"
                yield Remark(message, ("description",), tools=(tool.name,))
                break


RULE = Rule("AV307", "names-missing-tool", Severity.NOTE, server=check, is_default=False)
