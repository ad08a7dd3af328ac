"""Arguments without a size limit.

## What it does
Finds strings without `maxLength`, `enum`, `format` or `pattern`, and arrays without `maxItems`,
among the arguments of writing tools.

## Why is this bad
One call can be as large as the model makes it: a thousand recipients, a megabyte of text.

## Example
{"name": "invite", "inputSchema": {"type": "object",
 "properties": {"emails": {"type": "array", "items": {"type": "string"}}}}}

## Use instead
{"name": "invite", "inputSchema": {"type": "object",
 "properties": {"emails": {"type": "array", "maxItems": 20, "items": {"type": "string"}}}}}
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity, listed
from sayso.lint.subject import Parameter, Subject

_BOUNDS: Final = frozenset({"const", "enum", "format", "maxItems", "maxLength", "pattern"})


@Rule("SS405", "input-unbounded", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    names = [parameter.name for parameter in tool.parameters if _is_unbounded(parameter)]
    if tool.writes and names:
        yield Remark(f"no size limit: {listed(names)}", ("inputSchema", "properties"))


def _is_unbounded(parameter: Parameter) -> bool:
    has_size = not parameter.kinds.isdisjoint({"string", "array"})
    return has_size and _BOUNDS.isdisjoint(parameter.schema)
