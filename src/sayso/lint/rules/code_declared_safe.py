"""A tool that runs code from the model but is declared safe.

## What it does
Finds tools that are declared read-only or not destructive, but require an argument with code, a
script, a command or SQL. Skipped if the description says that only reads are accepted.

## Why is this bad
The tool does whatever its argument says, so it can cause the worst damage that the server permits.

## Example
{"name": "run_sql", "annotations": {"readOnlyHint": true},
 "inputSchema": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}}

## Use instead
{"name": "run_sql", "annotations": {"readOnlyHint": false, "destructiveHint": true},
 "inputSchema": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}}

## Fix
Not automatic. If only read statements run, say so in the description.
"""

import re
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Parameter, Subject

_CODE: Final = frozenset(
    {"cmd", "code", "command", "javascript", "js", "script", "shell", "sql", "statement"}
)
_RUNS: Final = frozenset({"call", "eval", "evaluate", "exec", "execute", "invoke", "run", "query"})
_DESCRIBES: Final = frozenset(
    {"analyze", "build", "check", "convert", "explain", "format", "generate", "get", "lint", "list"}
    | {"parse", "search", "suggest", "validate"}
)
_ONLY_READS: Final = re.compile(
    r"read[- ]?only|only (?:select|read)|select (?:only|quer|statement)|non-?destructive|sandbox",
    re.IGNORECASE,
)


@Rule("SS120", "code-declared-safe", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    is_safe = tool.hints.read_only or tool.hints.destructive is False
    runs = not _RUNS.isdisjoint(tool.words) and tool.words[0] not in _DESCRIBES
    if not is_safe or not runs or _ONLY_READS.search(tool.description):
        return
    for parameter in tool.parameters:
        if _is_code(parameter) and not _ONLY_READS.search(parameter.description):
            claim = "read-only" if tool.hints.read_only else "not destructive"
            message = f"declared {claim}, but it runs the code in {parameter.name}"
            yield Remark(message, parameter.at)


def _is_code(parameter: Parameter) -> bool:
    is_named = not _CODE.isdisjoint(parameter.words[-1:] + parameter.words[:1])
    is_free = parameter.is_required and not parameter.choices
    return is_named and is_free and parameter.kinds <= {"string", "array"}
