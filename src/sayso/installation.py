"""The program that installed sayso, and its command for another requirement."""

import shlex
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath
from typing import Final

_UV_CACHE: Final = ("archive-v", "environments-v")


class Installer(Enum):
    """A program that installs packages, in one of its ways."""

    PIP = "pip"
    UV_PIP = "uv pip"
    UV_PROJECT = "uv add"
    UV_TOOL = "uv tool install"
    UVX = "uvx"
    PIPX = "pipx install"
    PIPX_RUN = "pipx run"


REPLACING: Final = frozenset({Installer.UV_TOOL, Installer.UVX, Installer.PIPX, Installer.PIPX_RUN})
"""Installers whose command replaces the environment, with all extras that it does not name."""

LASTING: Final = {Installer.UVX: Installer.UV_TOOL, Installer.PIPX_RUN: Installer.PIPX}
"""Installers into a cache, which may be deleted, with the one that installs for good."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The Python environment that runs sayso.

    `files` are the names in `prefix`, and `project_files` those in the folder above it. `is_active`
    is true if the shell uses this environment, and `folder` is the working directory.
    """

    prefix: PurePath
    executable: str
    folder: PurePath
    files: frozenset[str] = frozenset()
    project_files: frozenset[str] = frozenset()
    is_made_by_uv: bool = False
    is_active: bool = False


def find_installer(environment: Environment) -> Installer:
    """Return the installer that manages an environment.

    >>> tool = PurePath("/home/ann/.local/share/uv/tools/sayso")
    >>> find_installer(Environment(tool, "python", tool, frozenset({"uv-receipt.toml"})))
    <Installer.UV_TOOL: 'uv tool install'>
    """
    if "pipx_metadata.json" in environment.files:
        is_kept = environment.prefix.parent.name == "venvs"
        return Installer.PIPX if is_kept else Installer.PIPX_RUN
    if "uv-receipt.toml" in environment.files:
        return Installer.UV_TOOL
    if any(part.startswith(_UV_CACHE) for part in environment.prefix.parts):
        return Installer.UVX
    if environment.prefix.name == ".venv" and "uv.lock" in environment.project_files:
        return Installer.UV_PROJECT
    return Installer.UV_PIP if environment.is_made_by_uv else Installer.PIP


def command_words(
    installer: Installer, environment: Environment, requirement: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the command with which `installer` installs `requirement` into `environment`.

    `requirement` is one word, or two for an editable installation.
    """
    match installer:
        case Installer.PIPX:
            return ("pipx", "install", "--force", *requirement)
        case Installer.PIPX_RUN:
            return ("pipx", "run", "--spec", requirement[-1], "sayso")
        case Installer.UV_TOOL:
            return ("uv", "tool", "install", *requirement)
        case Installer.UVX:
            return ("uvx", "--from", requirement[-1], "sayso")
        case Installer.UV_PROJECT:
            project = environment.prefix.parent
            is_inside = environment.folder.is_relative_to(project)
            place = () if is_inside else ("--project", str(project))
            return ("uv", "add", *place, *requirement)
        case Installer.UV_PIP:
            place = () if environment.is_active else ("--python", environment.executable)
            return ("uv", "pip", "install", *place, *requirement)
        case Installer.PIP:
            program = ("pip",) if environment.is_active else (environment.executable, "-m", "pip")
            return (*program, "install", *requirement)


def shell_line(words: tuple[str, ...]) -> str:
    """Return words as a line for a shell.

    >>> shell_line(("pip", "install", "sayso[cel]"))
    "pip install 'sayso[cel]'"
    """
    return shlex.join(words)
