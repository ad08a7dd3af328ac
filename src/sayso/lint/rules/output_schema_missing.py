"""A tool without an output schema.

## What it does
Finds tools that declare no `outputSchema`.

## Why is this bad
Clients cannot validate the results, remove unexpected properties, or shorten them safely. The rule
is off by default, because prose is the right result for many tools.

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
