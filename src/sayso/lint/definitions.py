"""Definitions of tools in Python source, and the rules that their comments permit them to break.

A definition is a function without its body, or a call such as `Tool(…)`. The comments above it
belong to it. A comment `# sayso: allow RULE: why` in a definition allows the tool to break the
rule. The source is parsed, never run.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sayso.errors import ConfigError
from sayso.lint.subject import Allowance
from sayso.source import find_definitions, read_module

_ALLOW: Final = re.compile(r"#\s*sayso:\s*allow\s+([\w-]+)\s*:?\s*(.*)")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Definition:
    """The line of a tool's `def` or call, and the rules that its comments allow it to break."""

    line: int
    allowed: tuple[Allowance, ...] = ()


def read_definitions(source: str) -> Mapping[str, Definition]:
    """Return the functions and calls that define tools, by tool name.

    A name comes from the decorator or call. If these have none, it is the function's name. If two
    functions share a name, the last counts, as in Python. Invalid source has no definitions.
    """
    try:
        tree = ast.parse(source)
        comments = dict(_comments(source))
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return {}
    lines = source.splitlines()
    definitions = {
        _name(node): Definition(node.lineno, tuple(_allowed(*_extent(node), comments, lines)))
        for node in ast.walk(tree)
        if isinstance(node, _Function)
    }
    for name, line, (first, end) in _registered(source):
        known = definitions.get(name, Definition(line))
        allowed = [
            allowance
            for allowance in _allowed(first, end, comments, lines)
            if allowance not in known.allowed
        ]
        definitions[name] = Definition(known.line, (*known.allowed, *allowed))
    return definitions


def _registered(source: str) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """Yield the name, line and line range of each tool that `find_definitions` finds."""
    try:
        module = read_module("server.py", source)
    except ConfigError:
        return
    for definition in find_definitions(module):
        if definition.name and isinstance(definition.handler, _Function):
            yield definition.name, definition.line, _extent(definition.handler)
        elif definition.name:
            yield (
                definition.name,
                definition.line,
                (definition.place.lineno, (definition.place.end_lineno or definition.line) + 1),
            )


def _comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _name(function: _Function) -> str:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call):
            for word in decorator.keywords:
                if word.arg == "name" and isinstance(word.value, ast.Constant):
                    return str(word.value.value)
    return function.name


def _extent(function: _Function) -> tuple[int, int]:
    """Return a function's lines without the body, decorators included, as a half-open range."""
    first = min(node.lineno for node in (function, *function.decorator_list))
    return first, max(function.body[0].lineno, function.lineno + 1)


def _allowed(
    first: int, end: int, comments: Mapping[int, str], lines: list[str]
) -> Iterator[Allowance]:
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    for number in range(first, end):
        if match := _ALLOW.search(comments.get(number, "")):
            yield Allowance(match[1], match[2].strip())
