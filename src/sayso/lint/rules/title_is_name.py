"""A title that is only the name again.

## What it does
Finds titles that are the tool's name, or another identifier, and no words for people.

## Why is this bad
It says no more than none, and clients that would make words of the name are kept from it.

## Example
{"name": "void_invoice", "title": "void_invoice"}

## Use instead
{"name": "void_invoice", "title": "Void an invoice"}

## Fix
`--fix` writes the title that sayso would show, made of the words of the name.
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
            yield Remark(f"its title “{title}” is an identifier", at, edits)
