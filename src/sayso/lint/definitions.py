"""Where tools are defined in Python source, and which rules comments there allow. Nothing is run.

A definition begins with the comments right above its first decorator and ends at the first
statement of its body, or it is a call, such as `Tool(…)`, with the comments right above it;
`# sayso: allow RULE: why` in it allows the rule for the tool.
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
    """The line of a tool's `def`, or of its call, and what comments on it allow."""

    line: int
    allowed: tuple[Allowance, ...] = ()


def read_definitions(source: str) -> Mapping[str, Definition]:
    """The functions and calls of `source` that define tools, by the names of these.

    That is the name which a decorator or a call gives, or the function's own. Of two functions
    with one name the last counts, as it does for Python. Source that is not Python defines nothing.
    """
    try:
        tree = ast.parse(source)
        comments = dict(_comments(source))
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return {}
    lines = source.splitlines()
    found = {
        _name(node): Definition(node.lineno, tuple(_allowed(*_extent(node), comments, lines)))
        for node in ast.walk(tree)
        if isinstance(node, _Function)
    }
    for name, line, (first, end) in _told(source):
        told = found.get(name, Definition(line))
        allowed = [
            allowance
            for allowance in _allowed(first, end, comments, lines)
            if allowance not in told.allowed
        ]
        found[name] = Definition(told.line, (*told.allowed, *allowed))
    return found


def _told(source: str) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """What names a tool in other ways: its name, the line to tell, and the lines around it."""
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
    """The lines of a function's definition, without its body: the first, and the one after."""
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
