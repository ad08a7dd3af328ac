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

from sayso.intent import LOOSER, WIRE_NAMES
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS116", "handler-contradicts-hint", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for deed in tool.deeds:
        if tool.hints[deed.against] is LOOSER[deed.against]:
            wire = WIRE_NAMES[deed.against]
            said = f"{wire} is declared {str(LOOSER[deed.against]).lower()}"
            yield Remark(f"{said}, but {deed.file}:{deed.line} {deed.what}", ("annotations", wire))
