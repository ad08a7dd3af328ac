"""Arguments without a bound.

## What it does
Finds texts without `maxLength`, `enum`, `format` or `pattern`, and lists without `maxItems`, among
the arguments of tools that write.

## Why is this bad
One call may be as large as the model makes it: a thousand recipients, a megabyte of text.

## Example
```json
{"name": "invite", "inputSchema": {"type": "object",
 "properties": {"emails": {"type": "array", "items": {"type": "string"}}}}}
```

## Use instead
```json
{"name": "invite", "inputSchema": {"type": "object",
 "properties": {"emails": {"type": "array", "maxItems": 20, "items": {"type": "string"}}}}}
```

## Fix
None: what is right is its author's to say.
"""

from collections.abc import Iterator
from typing import Final

from sayso.lint.finding import Remark, Severity
from sayso.lint.rule import Rule
from sayso.lint.subject import Parameter, Subject
from sayso.lint.wording import listed

_BOUNDS: Final = frozenset({"const", "enum", "format", "maxItems", "maxLength", "pattern"})


def check(tool: Subject) -> Iterator[Remark]:
    """One remark that names them."""
    names = [one.name for one in tool.parameters if _is_unbounded(one)]
    if tool.writes and names:
        yield Remark(f"without a bound: {listed(names)}", ("inputSchema", "properties"))


def _is_unbounded(one: Parameter) -> bool:
    return not one.kinds.isdisjoint({"string", "array"}) and _BOUNDS.isdisjoint(one.schema)


RULE = Rule("AV405", "input-unbounded", Severity.NOTE, check, is_default=False)
