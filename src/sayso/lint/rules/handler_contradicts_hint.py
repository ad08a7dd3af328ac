"""A hint that the source of the tool's handler contradicts.

## What it does
Where the source is at hand, finds declared hints against which something in the function behind
the tool speaks: a file opened for writing in one that is declared read-only. What the analysis
cannot tell is not told.

## Why is this bad
The source is what runs.

## Example
```text
@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
def export_report(path: str) -> str:
    Path(path).write_text(make_report())
```

## Use instead
```text
@mcp.tool(annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=True))
def export_report(path: str) -> str:
    Path(path).write_text(make_report())
```

## Fix
None: either the hint is wrong or the source is.
"""

from collections.abc import Iterator

from sayso.intent import LOOSER, WIRE_NAMES
from sayso.lint.finding import Remark, Severity
from sayso.lint.rule import Rule
from sayso.lint.subject import Subject


def check(tool: Subject) -> Iterator[Remark]:
    """One remark for each thing that the handler does against a declared hint."""
    for one in tool.handler.deeds if tool.handler else ():
        if tool.hints[one.against] is LOOSER[one.against]:
            wire = WIRE_NAMES[one.against]
            said = f"{wire} is declared {str(LOOSER[one.against]).lower()}"
            yield Remark(f"{said}, but {one.file}:{one.line} {one.what}", ("annotations", wire))


RULE = Rule("AV116", "handler-contradicts-hint", Severity.ERROR, check)
