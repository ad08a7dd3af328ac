"""A text with invisible characters.

## What it does
Finds characters in names, titles, descriptions and schemas that show nothing or change the
direction of text: control characters, directional overrides and isolates, zero-width spaces, tags.
Line breaks, tabs, no-break spaces, and joiners in scripts and emoji are allowed.

## Why is this bad
The model reads characters that a reviewer does not see.

## Example
{"name": "list_orders", "description": "Lists orders.(two zero-width spaces)"}

## Use instead
{"name": "list_orders", "description": "Lists orders."}
"""

import re
import unicodedata
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e01ef\U000f0000-\U0010ffff]"
)
_FLAG: Final = re.compile("\U0001f3f4[\U000e0020-\U000e007f]{2,8}")
"""Matches flags such as Scotland's, which consist of a black flag and tags."""

_KINDS: Final = {"Cc": "control character", "Co": "private use", "Cs": "half of a surrogate pair"}
"""Categories whose characters have no name."""


@Rule("SS304", "hidden-characters", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    text = tool.all_text
    is_plain = text.isascii() and text.replace("\n", "").isprintable()
    if is_plain or not _HIDDEN.search(text):
        return
    for at, text in tool.texts():
        match = _HIDDEN.search(_FLAG.sub("", text))
        if match:
            yield Remark(f"hidden character: {_describe(match[0])}", at)


def _describe(char: str) -> str:
    name = unicodedata.name(char, _KINDS.get(unicodedata.category(char), "unassigned"))
    return f"U+{ord(char):04X} {name.lower()}"
