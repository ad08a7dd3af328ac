"""A tool whose entry in the list is very large.

## What it does
Finds tools whose entry is larger than about 2,500 tokens.

## Why is this bad
The entry is sent with every request, even if the tool is not called.

## Example
{"name": "query", "inputSchema": {"type": "object", "$defs": {"… 90 types …": {}}}}

## Use instead
{"name": "query", "inputSchema": {"type": "object", "properties": {"filter": {"type": "object"}}}}
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_MOST: Final = 2_500


@Rule("SS604", "tool-too-large", Severity.NOTE).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.tokens > _MOST:
        yield Remark(f"the tool adds about {tool.tokens:,} tokens to every request")
