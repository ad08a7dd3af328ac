"""An argument without a description.

## What it does
Finds arguments that have no description, no described members and no self-explanatory name. A name
is self-explanatory if its words occur in the tool's name or description, or are common, such as
`limit`.

## Why is this bad
The model guesses the meaning from the name, for example which date is meant, or in which format.

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
    unclear = [parameter for parameter in tool.parameters if _is_unclear(parameter)]
    if not unclear:
        return
    known = _PLAIN | frozenset(tool.words) | words_of(tool.description[:_READ])
    names = [parameter.name for parameter in unclear if not known.issuperset(parameter.words)]
    if names:
        yield Remark(f"no description: {listed(names)}", ("inputSchema", "properties"))


def _is_unclear(parameter: Parameter) -> bool:
    has_more = parameter.choices or not _TELLS.isdisjoint(parameter.schema)
    return not parameter.description.strip() and not has_more
