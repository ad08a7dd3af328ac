"""Holds the sizes that keep sayso readable: a file fits in the head, a function on the screen."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "sayso"

FILE_LINES = 500
FUNCTION_LINES = 60

# What may be larger, and how large it is now: "store/sqlite.py" or "store/sqlite.py::Store.open".
# This list only shrinks. A figure is lowered with the code, and an entry leaves when it may.
EXCEPTIONS: dict[str, int] = {}


def functions(node: ast.AST, path: str = "") -> Iterator[tuple[str, int]]:
    """Every function below a node, with its dotted name and its number of lines."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from functions(child, path)
            continue
        name = f"{path}{child.name}"
        if not isinstance(child, ast.ClassDef):
            yield name, (child.end_lineno or child.lineno) - child.lineno + 1
        yield from functions(child, f"{name}.")


def too_large(source: str, name: str) -> Iterator[tuple[str, int]]:
    """The file and the functions in it that pass the maxima."""
    lines = len(source.splitlines())
    if lines > FILE_LINES:
        yield name, lines
    for function, length in functions(ast.parse(source)):
        if length > FUNCTION_LINES:
            yield f"{name}::{function}", length


@cache
def all_too_large() -> dict[str, int]:
    return {
        where: lines
        for path in sorted(SOURCE.rglob("*.py"))
        for where, lines in too_large(
            path.read_text(encoding="utf-8"), path.relative_to(SOURCE).as_posix()
        )
    }


def test_no_file_and_no_function_is_too_large() -> None:
    grown = {
        where: lines for where, lines in all_too_large().items() if lines > EXCEPTIONS.get(where, 0)
    }

    assert not grown, f"at most {FILE_LINES} lines in a file and {FUNCTION_LINES} in a function"


def test_the_list_of_exceptions_holds_no_more_than_is_needed() -> None:
    now = all_too_large()
    stale = {
        where: now.get(where) for where, lines in EXCEPTIONS.items() if now.get(where, 0) < lines
    }

    assert not stale, "lower these figures in EXCEPTIONS, or drop those that are None"


@pytest.mark.parametrize(
    ("lines", "expected"), [(FUNCTION_LINES, {}), (FUNCTION_LINES + 1, {"a.py::Box.open": 61})]
)
def test_a_method_is_measured_with_the_line_that_names_it(
    lines: int, expected: dict[str, int]
) -> None:
    body = "        pass\n" * (lines - 1)
    source = f"class Box:\n    @property\n    def open(self):\n{body}"

    assert dict(too_large(source, "a.py")) == expected


@pytest.mark.parametrize(("lines", "expected"), [(FILE_LINES, {}), (FILE_LINES + 1, {"a.py": 501})])
def test_a_file_is_measured_with_all_its_lines(lines: int, expected: dict[str, int]) -> None:
    assert dict(too_large("\n" * lines, "a.py")) == expected
