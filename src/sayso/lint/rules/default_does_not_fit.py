"""A default that its own schema does not allow.

## What it does
Finds arguments whose `default` is of another type than the argument, or not among its choices. A
default of `null` is not meant: many generators write it for “none”.

## Why is this bad
A client that fills in defaults sends what the server refuses, and a model reads two things at
once.

## Example
```json
{"properties": {"limit": {"type": "integer", "default": "20"}}}
```

## Use instead
```json
{"properties": {"limit": {"type": "integer", "default": 20}}}
```

## Fix
None: what is right is its author's to say.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sayso.lint.finding import Remark, Severity
from sayso.lint.rule import Rule
from sayso.lint.subject import Parameter, Subject, as_list

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


def check(tool: Subject) -> Iterator[Remark]:
    """One remark for each such argument."""
    for one in tool.parameters:
        value = one.schema.get("default")
        if value is not None and not _fits(one, value):
            at = ("inputSchema", "properties", one.name, "default")
            yield Remark(f"the default of {one.name} does not fit its own schema", at)


def _fits(one: Parameter, value: Any) -> bool:
    choices = as_list(one.schema.get("enum"))
    if choices:
        return value in choices
    kinds = one.kinds
    if not kinds or "$ref" in one.schema or not kinds <= set(_TYPES):
        return True
    if isinstance(value, bool):
        return "boolean" in kinds
    is_whole = isinstance(value, float) and value.is_integer() and "integer" in kinds
    return is_whole or any(isinstance(value, _TYPES[kind]) for kind in kinds - {"boolean"})


RULE = Rule("AV412", "default-does-not-fit", Severity.WARNING, check)
