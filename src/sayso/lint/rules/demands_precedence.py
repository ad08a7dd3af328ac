"""A description that demands to be called first or always.

## What it does
Finds phrases such as “ALWAYS call this before any other tool” and “you MUST use this tool”.

## Why is this bad
The model and its user decide the order of calls. Honest servers also write this about their own
tools, so the rule is off by default.

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
    match = _DEMANDS.search(tool.description)
    if match:
        yield Remark(f"the description demands precedence: “{match[0]}”", ("description",))
