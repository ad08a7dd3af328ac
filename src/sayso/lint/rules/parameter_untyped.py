"""An argument that accepts anything.

## What it does
Finds arguments whose schema has no type, no choices and no reference.

## Why is this bad
A model may send a string for a list, and no client can tell.

## Example
{"properties": {"ids": {"description": "Which orders"}}}

## Use instead
{"properties": {"ids": {"type": "array", "items": {"type": "string"},
 "description": "Which orders"}}}
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity, listed
from sayso.lint.subject import Subject

_TELL: Final = frozenset(
    {"$dynamicRef", "$ref", "allOf", "anyOf", "const", "enum", "format", "if", "items", "not"}
    | {"oneOf", "pattern", "properties", "type"}
)


@Rule("SS407", "parameter-untyped", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    names = [parameter.name for parameter in tool.parameters if _TELL.isdisjoint(parameter.schema)]
    if names:
        yield Remark(f"no type: {listed(names)}", ("inputSchema", "properties"))
