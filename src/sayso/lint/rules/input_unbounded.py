"""Arguments without a bound.

## What it does
Finds texts without `maxLength`, `enum`, `format` or `pattern`, and lists without `maxItems`, among
the arguments of tools that write.

## Why is this bad
One call may be as large as the model makes it: a thousand recipients, a megabyte of text.

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
        yield Remark(f"without a bound: {listed(names)}", ("inputSchema", "properties"))


def _is_unbounded(parameter: Parameter) -> bool:
    return not parameter.kinds.isdisjoint({"string", "array"}) and _BOUNDS.isdisjoint(
        parameter.schema
    )
