"""A description that only repeats the name.

## What it does
Finds descriptions that have no words beyond those of the tool's name and title.

## Why is this bad
It does not say when to call the tool, what it returns or what it changes. For some tools the name
is enough, so the rule is off by default.

## Example
{"name": "void_invoice", "description": "Void an invoice."}

## Use instead
{"name": "void_invoice", "description": "Voids an open invoice. The number stays taken."}
"""

from typing import Final

from sayso.catalog import words_of
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_EMPTY: Final = frozenset(
    {"a", "an", "and", "by", "for", "from", "in", "it", "its", "of", "on", "or", "the", "this"}
    | {"to", "tool", "with"}
)
_LONGEST: Final = 200


@Rule("SS302", "description-repeats-name", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    text = tool.description.strip()
    if not text or len(text) > _LONGEST:
        return
    known = frozenset(tool.words) | words_of(tool.title[:_LONGEST])
    if words_of(text) - _EMPTY <= known | {f"{word}s" for word in known}:
        yield Remark("the description only repeats the name", ("description",))
