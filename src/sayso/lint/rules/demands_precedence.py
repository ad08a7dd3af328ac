"""A description that demands to be called first, or always.

## What it does
Finds words like “ALWAYS call this before any other tool” and “you MUST use this tool”.

## Why is this bad
The order of calls is for the model and its person. Honest servers write so too, and mean an order
among their own tools, so this is not on by default.

## Example
{"name": "init", "description": "You MUST ALWAYS call this tool first."}

## Use instead
{"name": "init", "description": "Opens a session, which the other tools of this server need."}
"""

import re
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_DEMANDS: Final = re.compile(
    r"\balways\s(?:call|use|run|invoke)\sthis\b|\bmust\s(?:always\s)?(?:call|use|run|invoke)\sthis\b"
    r"|\bbefore\s(?:calling|using|running)\sany\sother\b|\binstead\sof\sany\sother\b",
    re.IGNORECASE,
)


@Rule("SS309", "demands-precedence", Severity.NOTE, is_default=False).for_tool
def _check(tool: Subject) -> Remarks:
    found = _DEMANDS.search(tool.description)
    if found:
        yield Remark(f"it demands precedence: “{found[0]}”", ("description",))
