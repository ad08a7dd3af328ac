"""A tool without an output schema.

## What it does
Finds tools that declare no `outputSchema`.

## Why is this bad
Their results cannot be validated, reduced to what was promised, or cut without breaking them. Many
tools rightly answer in prose, so the rule is off by default.

## Example
{"name": "get_order"}

## Use instead
{"name": "get_order", "outputSchema": {"type": "object",
 "properties": {"total": {"type": "number"}}}}
"""

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS408", "output-schema-missing", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    if tool.raw.get("outputSchema") is None:
        yield Remark("outputSchema is missing", ("outputSchema",))
