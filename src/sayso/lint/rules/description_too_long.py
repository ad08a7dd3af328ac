"""A description that is longer than a model reads with care.

## What it does
Finds descriptions of more than 4,000 characters, about a thousand tokens.

## Why is this bad
It is sent with every request, whether the tool is called or not, and what stands far down is
overlooked. Some interfaces cut it.

## Example
{"name": "query", "description": "Runs a query. … (five pages on the query language) …"}

## Use instead
{"name": "query", "description": "Runs a query. describe_language tells the language."}

## Fix
None. What is reference belongs into a resource, or into a tool that tells it.
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_LONGEST: Final = 4_000


@Rule("SS303", "description-too-long", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    length = len(tool.description)
    if length > _LONGEST:
        message = f"its description has {length:,} characters, more than {_LONGEST:,}"
        yield Remark(message, ("description",))
