"""An argument that may be anything.

## What it does
Finds arguments whose schema says nothing of what they are: no type, no choice, no reference.

## Why is this bad
A model sends a text where a list is wanted, and no client can tell.

## Example
{"properties": {"ids": {"description": "Which orders"}}}

## Use instead
{"properties": {"ids": {"type": "array", "items": {"type": "string"},
 "description": "Which orders"}}}
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity, listed
from sayso.lint.subject import Parameter, Subject

_TELL: Final = frozenset(
    {"$dynamicRef", "$ref", "allOf", "anyOf", "const", "enum", "format", "if", "items", "not"}
    | {"oneOf", "pattern", "properties", "type"}
)


@Rule("SS407", "parameter-untyped", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    names = [parameter.name for parameter in tool.parameters if _is_untyped(parameter)]
    if names:
        yield Remark(f"without a type: {listed(names)}", ("inputSchema", "properties"))


def _is_untyped(parameter: Parameter) -> bool:
    return _TELL.isdisjoint(parameter.schema)
