"""Holds the half of the floors that import-linter cannot say: a private module stays at home."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"


def imported(source: str) -> Iterator[str]:
    """Every module or name of sayso that a file imports, by its full dotted name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_private_elsewhere(name: str, package: str) -> bool:
    """Whether a dotted name holds a private part that does not belong to `sayso.<package>`."""
    parts = name.split(".")
    return (
        parts[0] == "sayso"
        and parts[1:2] != [package]
        and any(part.startswith("_") and not part.startswith("__") for part in parts)
    )


def test_no_package_imports_a_private_part_of_another() -> None:
    found = [
        f"{path.relative_to(SOURCE)} imports {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for name in imported(path.read_text(encoding="utf-8"))
        if is_private_elsewhere(name, path.relative_to(SOURCE / "sayso").parts[0])
    ]

    assert found == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("from sayso.schema._numbers import spell", True),
        ("from sayso.schema import _numbers", True),
        ("import sayso.schema._numbers", True),
        ("from sayso.schema import canonical", False),
        ("from sayso.policy._match import matches", False),
        ("from sayso import __version__", False),
        ("from httpx2._types import Headers", False),
    ],
)
def test_a_private_part_is_told_by_its_underscore(*, line: str, expected: bool) -> None:
    assert [is_private_elsewhere(name, "policy") for name in imported(line)] == [expected]
