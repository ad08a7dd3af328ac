"""SECURITY.md: every row names the tests that hold it, and they are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TABLE = re.findall(
    r"^\| (?!---|an attacker)(.+) \|$", (ROOT / "SECURITY.md").read_text(), re.MULTILINE
)
CELLS = [row.split(" | ") for row in TABLE]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def names_in(path: Path) -> set[str]:
    """The names of the tests in one file, as it is written."""
    tree = ast.parse(path.read_text())
    return {
        one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_the_table_is_read() -> None:
    assert len(CELLS) > 50
    assert {len(row) for row in CELLS} == {3}


@pytest.mark.parametrize("row", CELLS, ids=[row[0][:60] for row in CELLS])
def test_each_row_names_tests_that_are_there(row: list[str]) -> None:
    named = row[-1].split("<br>")
    for one in named:
        found = NAMED.fullmatch(one)
        assert found, f"{one} is not `tests/file.py::test_name`"
        path, name = ROOT / found[1], found[2]
        assert path.is_file(), f"{found[1]} is not there"
        assert name in names_in(path), f"{found[1]} has no {name}"


def test_no_two_rows_are_about_the_same_attacker() -> None:
    attackers = [row[0] for row in CELLS]
    assert len(set(attackers)) == len(attackers)
