"""A description that refers to a tool that is not in the list.

## What it does
Finds descriptions that send the model to a tool by name (“use the `list_orders` tool”) that the
list does not contain.

## Why is this bad
The model calls a missing tool, or gives up. The rule is off by default, because a server may hide
tools from some callers.

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
                message = f"the description refers to {match[1]}, which is not in the list"
                yield Remark(message, ("description",), tools=(tool.name,))
                break
