"""An output schema that promises nothing.

## What it does
Finds output schemas that name no property, and so take any object.

## Why is this bad
A schema is what sayso, and other careful clients, check a result by and strip it to. One that takes
everything only costs room. Some results have keys that nobody knows before, so this is not on by
default.

## Example
{"outputSchema": {"type": "object"}}

## Use instead
{"outputSchema": {"type": "object", "properties": {"total": {"type": "number"}}}}
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject, as_object

_TELL: Final = ("properties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf")


@Rule("SS414", "output-open", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    schema = as_object(tool.raw.get("outputSchema"))
    is_closed = schema.get("additionalProperties", True) is not True
    if schema and not is_closed and not any(schema.get(key) for key in _TELL):
        yield Remark("its outputSchema names nothing", ("outputSchema",))
