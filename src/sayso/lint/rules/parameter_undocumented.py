"""An argument without a description.

## What it does
Finds arguments whose schema has no description, whose members are not
described either, and whose name does not say all: its words stand neither in the tool's name nor in
its description, and are not plain ones such as `limit`.

## Why is this bad
A model takes from the name what to send: which of two dates, in which form, whose identifier.

## Example
{"properties": {"from": {"type": "string"}}}

## Use instead
{"properties": {"from": {"type": "string", "description": "First day, as 2026-01-31"}}}
"""

from typing import Final

from sayso.catalog import words_of
from sayso.lint.rule import Remark, Remarks, Rule, Severity, listed
from sayso.lint.subject import Parameter, Subject

_READ: Final = 20_000
_TELLS: Final = frozenset({"$ref", "const", "properties"})
_PLAIN: Final = frozenset(
    {"count", "cursor", "description", "filter", "id", "key", "limit", "name", "offset", "order"}
    | {"page", "path", "query", "search", "size", "sort", "title", "uid", "url", "uuid"}
)


@Rule("SS406", "parameter-undocumented", Severity.NOTE).for_tool
def _check(tool: Subject) -> Remarks:
    untold = [parameter for parameter in tool.parameters if _is_untold(parameter)]
    if not untold:
        return
    told = _PLAIN | frozenset(tool.words) | words_of(tool.description[:_READ])
    names = [parameter.name for parameter in untold if not told.issuperset(parameter.words)]
    if names:
        yield Remark(f"without a description: {listed(names)}", ("inputSchema", "properties"))


def _is_untold(parameter: Parameter) -> bool:
    has_more = parameter.choices or not _TELLS.isdisjoint(parameter.schema)
    return not parameter.description.strip() and not has_more
