"""A tool declared closed-world that takes a URL.

## What it does
Finds tools with `openWorldHint: false` that call the address in an argument such as `url`, `urls`
or `webhook_url`, for which any value is accepted.

## Why is this bad
The caller chooses the address, so the tool can reach anything.

## Example
{"name": "fetch_page", "annotations": {"readOnlyHint": true, "openWorldHint": false},
 "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}}}

## Use instead
{"name": "fetch_page", "annotations": {"readOnlyHint": true, "openWorldHint": true},
 "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}}}

## Fix
Not automatic. If only addresses of one system are accepted, say so in the schema (`pattern`,
`enum`).
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
            message = f"declared closed-world, but argument {parameter.name} is an address"
            yield Remark(message, parameter.at)


def _is_address(parameter: Parameter) -> bool:
    is_named = bool(parameter.words) and parameter.words[-1] in _CALLED
    is_free = not parameter.choices and {"pattern", "default"}.isdisjoint(parameter.schema)
    return is_named and is_free and parameter.kinds <= {"string", "array"}
