"""A hint that the handler's source contradicts.

## What it does
Finds declared hints that the tool's Python function contradicts, such as a read-only tool that
opens a file for writing. The rule needs the source, and reports only effects that are certain.

## Why is this bad
The source shows what the tool really does, so the hint is false.

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
"""

from sayso.intent import LOOSER, WIRE_NAMES
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject


@Rule("SS116", "handler-contradicts-hint", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for deed in tool.deeds:
        if tool.hints[deed.against] is LOOSER[deed.against]:
            wire = WIRE_NAMES[deed.against]
            claim = f"{wire} is declared {str(LOOSER[deed.against]).lower()}"
            yield Remark(f"{claim}, but {deed.file}:{deed.line} {deed.what}", ("annotations", wire))
