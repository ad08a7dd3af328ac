"""A description that is too long to read with care.

## What it does
Finds descriptions of more than 4,000 characters, about 1,000 tokens.

## Why is this bad
The description is sent with every request, even if the tool is not called. Models overlook the end
of a long text, and some APIs cut it.

## Example
{"name": "query", "description": "Runs a query. … (five pages on the query language) …"}

## Use instead
{"name": "query", "description": "Runs a query. describe_language explains the language."}

## Fix
Not automatic. Move reference material to a resource or to a tool that returns it.
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_LONGEST: Final = 4_000


@Rule("SS303", "description-too-long", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    length = len(tool.description)
    if length > _LONGEST:
        message = f"the description has {length:,} characters; the limit is {_LONGEST:,}"
        yield Remark(message, ("description",))
