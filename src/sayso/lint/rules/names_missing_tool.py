"""A description that names a tool which is not there.

## What it does
Finds descriptions that send the model to a tool of the same server by name (“use the `list_orders`
tool”) where the list has no such tool.

## Why is this bad
The model calls what is not there, or gives up. A list may be cut to what its caller may see, so
this is not on by default.

## Example
[{"name": "void", "description": "First call the `list_orders` tool."}]

## Use instead
[{"name": "void"}, {"name": "list_orders"}]
"""

import re
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Listing

_NAMED: Final = re.compile(
    r"\b(?:use|call|run|invoke|see|with|from|by)\s(?:the\s)?[`'\"]?"
    r"([a-z][a-z0-9]{1,40}(?:_[a-z0-9]{1,40}){1,6})[`'\"]?\s(?:tool|mcp tool)\b"
)


@Rule("SS307", "names-missing-tool", Severity.NOTE, is_default=False).for_server
def _check(server: Listing) -> Remarks:
    for tool in server.tools:
        if "tool" not in tool.description:
            continue
        properties = {parameter.name for parameter in tool.parameters}
        for match in _NAMED.finditer(tool.description):
            if match[1] not in server.names and match[1] not in properties:
                message = f"it sends the model to {match[1]}, which is not in the list"
                yield Remark(message, ("description",), tools=(tool.name,))
                break
