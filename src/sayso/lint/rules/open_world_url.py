"""A tool that is declared closed and takes a URL.

## What it does
Finds tools with `openWorldHint: false` that take an address to call: an argument named `url`,
`urls`, `webhook_url` or the like that a model may fill in freely.

## Why is this bad
Whoever names the address names the world that is reached.

## Example
{"name": "fetch_page", "annotations": {"readOnlyHint": true, "openWorldHint": false},
 "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}}}

## Use instead
{"name": "fetch_page", "annotations": {"readOnlyHint": true, "openWorldHint": true},
 "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}}}

## Fix
None. Where only addresses of one system are taken, say so in the schema (`pattern`, `enum`).
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Parameter, Subject

_CALLED: Final = frozenset({"url", "webhook", "website"})
_REACHES: Final = frozenset(
    {"browse", "call", "crawl", "download", "extract", "fetch", "goto", "import", "navigate"}
    | {"open", "ping", "post", "read", "request", "scrape", "screenshot", "send"}
    | {"visit", "webhook"}
)


@Rule("SS118", "open-world-url", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.hints.open_world is not False or _REACHES.isdisjoint(tool.words):
        return
    for parameter in tool.parameters:
        if _is_address(parameter):
            yield Remark(
                f"declared closed, but its argument {parameter.name} is an address", parameter.at
            )


def _is_address(parameter: Parameter) -> bool:
    is_named = bool(parameter.words) and parameter.words[-1] in _CALLED
    is_free = (
        not parameter.choices
        and "pattern" not in parameter.schema
        and "default" not in parameter.schema
    )
    return is_named and is_free and parameter.kinds <= {"string", "array"}
