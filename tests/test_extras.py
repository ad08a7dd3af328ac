"""The install command that an error about a missing extra names."""

import ast
import tomllib
from pathlib import Path, PurePosixPath

import pytest

from sayso.extras import _command, install_command  # pyright: ignore[reportPrivateUsage] - by path

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/ann/project/.venv", "pip install 'sayso[cel]'"),
        ("/usr", "pip install 'sayso[cel]'"),
        ("/home/ann/.local/share/uv/tools/sayso", "uv tool install 'sayso[cel]'"),
        ("/home/ann/.local/share/pipx/venvs/sayso", "pipx install --force 'sayso[cel]'"),
        ("/home/ann/.cache/uv/archive-v0/x1y2", "uvx --from 'sayso[cel]' sayso"),
    ],
)
def test_the_command_installs_into_the_environment_that_is_running(
    prefix: str, command: str
) -> None:
    assert _command(PurePosixPath(prefix), "sayso[cel]") == command


def test_several_extras_are_one_requirement() -> None:
    assert install_command("verify", "verify-postgres").endswith("'sayso[verify,verify-postgres]'")


def test_every_extra_that_a_message_names_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {
        argument.value
        for file in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in ("install_fix", "install_command")
        for argument in node.args
        if isinstance(argument, ast.Constant)
    }
    assert len(named) >= 10
    assert named <= set(project["optional-dependencies"])


def test_no_message_writes_its_own_install_command() -> None:
    files = (ROOT / "src").rglob("*.py")
    own = [file.name for file in files if "pip install" in file.read_text(encoding="utf-8")]
    assert own == ["extras.py"]
