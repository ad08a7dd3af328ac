"""A list of tools that fills a model's context.

## What it does
Finds lists that come to more than about 25,000 tokens.

## Why is this bad
All of it is sent with every request before a word was said; models choose worse among many tools,
and some clients cut the list.

## Example
[{"name": "tool_1"}, {"name": "tool_2"}, {"name": "… and 400 more"}]

## Use instead
[{"name": "search_tools"}, {"name": "call_tool"}]

## Fix
None. Offer the tools in groups; behind `sayso gateway` with `tools = "search"` four tools find the
others.
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Listing

_MOST: Final = 25_000


@Rule("SS603", "list-too-large", Severity.WARNING).for_server
def _check(server: Listing) -> Remarks:
    tokens = sum(tool.tokens for tool in server.tools)
    if tokens > _MOST:
        what = "its one tool comes"
        if len(server.tools) > 1:
            what = f"its {len(server.tools)} tools come"
        yield Remark(f"{what} to about {tokens:,} tokens in every request")
