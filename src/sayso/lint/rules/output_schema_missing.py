"""A tool without a schema of its result.

## What it does
Finds tools that declare no `outputSchema`.

## Why is this bad
What comes back cannot be checked, stripped to what was promised, or cut without breaking it. Many
tools answer in prose and rightly have none, so this is not on by default.

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
        yield Remark("it has no outputSchema", ("outputSchema",))
