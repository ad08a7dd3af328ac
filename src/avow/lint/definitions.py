"""Where tools are defined in Python source, and which rules comments there allow. Nothing is run.

A definition begins with the comments right above its first decorator and ends at the first
statement of its body; `# avow: allow RULE: why` in it allows the rule for the tool.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from avow.lint.subject import Allowance

_ALLOW: Final = re.compile(r"#\s*avow:\s*allow\s+([\w-]+)\s*:?\s*(.*)")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Definition:
    """The line of a tool's `def`, and what comments on it allow."""

    line: int
    allowed: tuple[Allowance, ...] = ()


def read_definitions(source: str) -> Mapping[str, Definition]:
    """The functions of `source` by the name that they have as tools.

    That is the `name` which a decorator gives, or the function's own. Of two with one name the
    last counts, as it does for Python. Source that is not Python defines nothing.
    """
    try:
        tree = ast.parse(source)
        comments = dict(_comments(source))
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return {}
    lines = source.splitlines()
    return {
        _name(one): Definition(one.lineno, tuple(_allowed(one, comments, lines)))
        for one in ast.walk(tree)
        if isinstance(one, _Function)
    }


def _comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _name(function: _Function) -> str:
    for one in function.decorator_list:
        if isinstance(one, ast.Call):
            for word in one.keywords:
                if word.arg == "name" and isinstance(word.value, ast.Constant):
                    return str(word.value.value)
    return function.name


def _allowed(
    function: _Function, comments: Mapping[int, str], lines: list[str]
) -> Iterator[Allowance]:
    first = min(one.lineno for one in (function, *function.decorator_list))
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    for number in range(first, max(function.body[0].lineno, function.lineno + 1)):
        if match := _ALLOW.search(comments.get(number, "")):
            yield Allowance(match[1], match[2].strip())
