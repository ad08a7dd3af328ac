"""A title that only repeats the name.

## What it does
Finds titles that are the tool's name or another identifier.

## Why is this bad
It adds nothing, and stops clients from making a readable title from the name.

## Example
{"name": "void_invoice", "title": "void_invoice"}

## Use instead
{"name": "void_invoice", "title": "Void an invoice"}

## Fix
`--fix` writes the title that sayso would show, made from the words of the name.
"""

import re
from typing import Final

from sayso.catalog import derive_title
from sayso.lint.rule import Edit, Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_JOINED: Final = re.compile(r"[^\W_]+(?:[_.:/][^\W_]+)+|[a-z]+(?:[A-Z][a-z]+)+")
_PLACES: Final = (("title",), ("annotations", "title"))


@Rule("SS202", "title-is-name", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    for at, title in zip(_PLACES, tool.titles, strict=True):
        if title and ((title == tool.name and len(tool.words) > 1) or _JOINED.fullmatch(title)):
            edits = (Edit(at, derive_title(tool.name)),)
            yield Remark(f"the title “{title}” is an identifier", at, edits)
