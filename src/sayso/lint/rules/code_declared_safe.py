"""A tool that runs what the model writes, and is declared safe.

## What it does
Finds tools that must be given code, a script, a command or SQL to run, and are declared read-only
or not destructive, with no word that only what reads is taken.

## Why is this bad
Such a tool does what its argument says, and so the worst that it can.

## Example
{"name": "run_sql", "annotations": {"readOnlyHint": true},
 "inputSchema": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}}

## Use instead
{"name": "run_sql", "annotations": {"readOnlyHint": false, "destructiveHint": true},
 "inputSchema": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}}

## Fix
None. Where only reading statements run, say so in the description.
"""

import re
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Parameter, Subject

_CODE: Final = frozenset(
    {"cmd", "code", "command", "javascript", "js", "script", "shell", "sql", "statement"}
)
_RUNS: Final = frozenset({"call", "eval", "evaluate", "exec", "execute", "invoke", "run", "query"})
_TALKS_OF_IT: Final = frozenset(
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
    runs = not _RUNS.isdisjoint(tool.words) and tool.words[0] not in _TALKS_OF_IT
    if not is_safe or not runs or _ONLY_READS.search(tool.description):
        return
    for parameter in tool.parameters:
        if _is_code(parameter) and not _ONLY_READS.search(parameter.description):
            said = "read-only" if tool.hints.read_only else "not destructive"
            yield Remark(
                f"declared {said}, but it runs what stands in {parameter.name}", parameter.at
            )


def _is_code(parameter: Parameter) -> bool:
    is_named = not _CODE.isdisjoint(parameter.words[-1:] + parameter.words[:1])
    return (
        is_named
        and parameter.is_required
        and not parameter.choices
        and parameter.kinds <= {"string", "array"}
    )
