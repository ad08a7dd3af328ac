"""A tool that runs what the model writes, and is declared safe.

## What it does
Finds tools that must be given code, a script, a command or SQL to run, and are declared read-only
or not destructive, with no word that only what reads is taken.

## Why is this bad
Such a tool does what its argument says, and so the worst that it can.

## Example
```json
{"name": "run_sql", "annotations": {"readOnlyHint": true},
 "inputSchema": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}}
```

## Use instead
```json
{"name": "run_sql", "annotations": {"readOnlyHint": false, "destructiveHint": true},
 "inputSchema": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}}
```

## Fix
None. Where only reading statements run, say so in the description.
"""

import re
from collections.abc import Iterator
from typing import Final

from sayso.lint.finding import Remark, Severity
from sayso.lint.rule import Rule
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


def check(tool: Subject) -> Iterator[Remark]:
    """One remark where the tool's worst call is whatever its argument says."""
    is_safe = tool.hints.read_only or tool.hints.destructive is False
    runs = not _RUNS.isdisjoint(tool.words) and tool.words[0] not in _TALKS_OF_IT
    if not is_safe or not runs or _ONLY_READS.search(tool.description):
        return
    for one in tool.parameters:
        if _is_code(one) and not _ONLY_READS.search(one.description):
            said = "read-only" if tool.hints.read_only else "not destructive"
            at = ("inputSchema", "properties", one.name)
            yield Remark(f"declared {said}, but it runs what stands in {one.name}", at)


def _is_code(one: Parameter) -> bool:
    is_named = not _CODE.isdisjoint(one.words[-1:] + one.words[:1])
    return is_named and one.is_required and not one.choices and one.kinds <= {"string", "array"}


RULE = Rule("AV120", "code-declared-safe", Severity.WARNING, check)
