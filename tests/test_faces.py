"""Holds that packages are used through their `__init__`: each has a contract that fails."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_every_package_has_a_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    protected = {
        tuple(contract["protected_modules"])
        for contract in settings["contracts"]
        if contract["type"] == "protected" and "ignore_imports" not in contract
    }
    packages = {path.parent.name for path in (ROOT / "src" / "sayso").glob("*/__init__.py")}
    assert protected == {(f"sayso.{package}.**",) for package in packages}


@pytest.mark.parametrize(
    ("line", "is_kept"),
    [
        ("from sayso.store import open_store", True),
        ("from sayso.store.sqlite import Sqlite", False),
        ("from sayso.store import sqlite", False),
    ],
)
def test_an_import_from_inside_another_package_fails(
    line: str, *, is_kept: bool, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    module = tmp_path / "src" / "sayso" / "guard" / "added.py"
    module.write_text(f'"""Added."""\n\n{line}\n')
    lint = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    broken = "Illegal imports of protected package sayso.store.sqlite" in lint.stdout
    assert (lint.returncode == 0, broken) == (is_kept, not is_kept), lint.stdout
