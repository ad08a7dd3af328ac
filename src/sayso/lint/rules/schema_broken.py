"""A schema that is not valid JSON Schema.

## What it does
Finds input and output schemas that break JSON Schema 2020-12: unknown types, a `required` that is
not a list, invalid patterns.

## Why is this bad
Clients cannot validate arguments or results. Several reject the whole list.

## Example
{"inputSchema": {"type": "object", "properties": {"n": {"type": "int"}}}}

## Use instead
{"inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
"""

from collections.abc import Mapping
from typing import Any, Final

import jsonschema_rs

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject
from sayso.schema import object_of

_LONGEST: Final = 200


@Rule("SS402", "schema-broken", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for key in ("inputSchema", "outputSchema"):
        fault = _fault(object_of(tool.raw.get(key)))
        if fault:
            yield Remark(f"the {key} is not valid JSON Schema: {fault}", (key,))


def _fault(schema: Mapping[str, Any]) -> str:
    if not schema:
        return ""
    try:
        jsonschema_rs.meta.validate(dict(schema))
    except jsonschema_rs.ValidationError as error:
        first = error.message.partition("\n")[0]
        if len(first) > _LONGEST:
            first = f"…{first[-_LONGEST:]}"
        where = "/".join(str(step) for step in error.instance_path)
        return f"{where}: {first}".removeprefix(": ")
    except (ValueError, OverflowError, RecursionError, jsonschema_rs.ReferencingError) as error:
        return str(error).partition("\n")[0][:_LONGEST]
    return ""
