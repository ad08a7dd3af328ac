"""An output schema that promises nothing.

## What it does
Finds output schemas that name no property, so they accept any object.

## Why is this bad
sayso and other careful clients validate results, and remove properties that the schema does not
name. A schema without properties only takes up space. The rule is off by default, because some
results have unpredictable keys.

## Example
{"outputSchema": {"type": "object"}}

## Use instead
{"outputSchema": {"type": "object", "properties": {"total": {"type": "number"}}}}
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject
from sayso.schema import object_of

_TELL: Final = ("properties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf")


@Rule("SS414", "output-open", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    schema = object_of(tool.raw.get("outputSchema"))
    is_closed = schema.get("additionalProperties", True) is not True
    if schema and not is_closed and not any(schema.get(key) for key in _TELL):
        yield Remark("outputSchema names no property", ("outputSchema",))
