"""A default that its own schema does not accept.

## What it does
Finds arguments whose `default` has the wrong type or is not one of the choices. `null` is ignored:
many generators write it for “no default”.

## Why is this bad
A client that fills in the default sends a value that the server rejects.

## Example
{"properties": {"limit": {"type": "integer", "default": "20"}}}

## Use instead
{"properties": {"limit": {"type": "integer", "default": 20}}}
"""

from collections.abc import Mapping
from typing import Any, Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Parameter, Subject
from sayso.schema import list_of

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


@Rule("SS412", "default-does-not-fit", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    for parameter in tool.parameters:
        value = parameter.schema.get("default")
        if value is not None and not _fits(parameter, value):
            message = f"the default of {parameter.name} does not match its own schema"
            yield Remark(message, (*parameter.at, "default"))


def _fits(parameter: Parameter, value: Any) -> bool:
    choices = list_of(parameter.schema.get("enum"))
    if choices:
        return value in choices
    kinds = parameter.kinds
    if not kinds or "$ref" in parameter.schema or not kinds <= set(_TYPES):
        return True
    if isinstance(value, bool):
        return "boolean" in kinds
    is_whole = isinstance(value, float) and value.is_integer() and "integer" in kinds
    return is_whole or any(isinstance(value, _TYPES[kind]) for kind in kinds - {"boolean"})
