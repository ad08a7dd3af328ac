"""A tool list that fills a model's context.

## What it does
Finds lists of more than about 25,000 tokens.

## Why is this bad
The whole list is sent with every request. Models choose worse among many tools, and some clients
cut the list.

## Example
[{"name": "tool_1"}, {"name": "tool_2"}, {"name": "… and 400 more"}]

## Use instead
[{"name": "search_tools"}, {"name": "call_tool"}]

## Fix
Not automatic. Offer the tools in groups, or run `sayso gateway` with `tools = "search"`, which
lists four tools that find and call the others.
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity, count_of
from sayso.lint.subject import Listing

_MOST: Final = 25_000


@Rule("SS603", "list-too-large", Severity.WARNING).for_server
def _check(server: Listing) -> Remarks:
    tokens = sum(tool.tokens for tool in server.tools)
    if tokens > _MOST:
        count = count_of(len(server.tools), "tool")
        yield Remark(f"the list ({count}) adds about {tokens:,} tokens to every request")
