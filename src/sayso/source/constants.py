"""The constants that a program compares its values with: what opens its branches.

The verifier tries them as arguments. A wrong one costs a call and nothing else, so a constant
counts for every parameter of the name that it is compared under, wherever that is.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final

Constant = str | int
Constants = Mapping[str, tuple[Constant, ...]]
"""The constants by the name of the value, as `fold` writes it."""

_MOST: Final = 12
"""The maximum number of constants per name."""
_LONGEST: Final = 80
_TESTS: Final = frozenset({"startswith", "endswith"})

# JavaScript is read with expressions: a parser would be one more dependency, for values that are
# only tried.
_WORD: Final = r"(?:[\w$]+\??\.)*([\w$]+)(?:\.(?:trim|toLowerCase|toUpperCase)\(\))*"
_TEXT: Final = r"""(["'`])((?:(?!\2)[^\\\n$]){1,80})\2"""
_EQUALS: Final = re.compile(rf"{_WORD}\s*[!=]==?\s*{_TEXT}")
_STARTS: Final = re.compile(rf"{_WORD}\.(?:startsWith|endsWith|includes)\(\s*{_TEXT}")
_SWITCH: Final = re.compile(rf"switch\s*\(\s*{_WORD}\s*\)")
_CASE: Final = re.compile(r"""case\s*()(["'`])((?:(?!\2)[^\\\n$]){1,80})\2\s*:""")


def fold(name: str) -> str:
    """Return a name without case and underscores: a parameter may have another spelling.

    >>> fold("dryRun") == fold("dry_run")
    True
    """
    return name.replace("_", "").casefold()


def compared_constants(files: Iterable[tuple[str, str]]) -> Constants:
    """Return the constants that values are compared with, in Python and JavaScript.

    `files` are names with texts. A file that cannot be read as a program gives none.

    >>> dict(compared_constants([("a.py", "if mode == 'commit': pass")]))
    {'mode': ('commit',)}
    """
    found: dict[str, dict[Constant, None]] = defaultdict(dict)
    for file, text in files:
        pairs = _of_python(text) if file.endswith(".py") else _of_script(text)
        for name, value in pairs:
            if name and len(str(value)) <= _LONGEST:
                found[fold(name)][value] = None
    return {name: tuple(values)[:_MOST] for name, values in found.items()}


def _of_python(text: str) -> Iterator[tuple[str, Constant]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    named = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        for value, other in _comparisons(node):
            yield from _pairs(value, other, named)


def _comparisons(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each value of a node with what it is compared with."""
    match node:
        case ast.Compare(left=left, comparators=comparators):
            for side, other in pairwise([left, *comparators]):
                yield side, other
                yield other, side
        case ast.Match(subject=subject, cases=cases):
            patterns = (pattern for case in cases for pattern in ast.walk(case.pattern))
            yield from ((subject, one.value) for one in patterns if isinstance(one, ast.MatchValue))
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[first, *_]):
            if attr in _TESTS:
                yield value, first
        case ast.Subscript(value=ast.Dict() as table, slice=index):
            yield index, table
        case _:
            return


def _pairs(
    value: ast.expr, other: ast.expr, named: Mapping[str, ast.expr]
) -> Iterator[tuple[str, Constant]]:
    name = _name(value)
    if isinstance(other, ast.Name):
        other = named.get(other.id, other)
    if name:
        yield from ((name, constant) for constant in _constants(other))


def _name(node: ast.expr) -> str:
    """Return the name of a value: of a variable, a field, or a key, also behind a method."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            return name
        case ast.Call(func=ast.Attribute(value=value)):
            return _name(value)
        case ast.Call(func=ast.Name(), args=[value, *_]):
            return _name(value)
        case _:
            return ""


def _constants(node: ast.expr) -> Iterator[Constant]:
    match node:
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=str() | int() as value):
            yield value
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                yield from _constants(part)
        case ast.Dict(keys=keys):
            for key in keys:
                if key is not None:
                    yield from _constants(key)
        case _:
            return


def _of_script(text: str) -> Iterator[tuple[str, Constant]]:
    for expression in (_EQUALS, _STARTS):
        for found in expression.finditer(text):
            yield found[1], found[3]
    switches = [*_SWITCH.finditer(text)]
    ends = [*(switch.start() for switch in switches[1:]), len(text)]
    for switch, end in zip(switches, ends, strict=False):
        yield from ((switch[1], case[3]) for case in _CASE.finditer(text, switch.end(), end))
