"""Install commands for optional dependencies."""

import sys
from pathlib import PurePath

_UVX_CACHE = "archive-v"


def install_command(*extras: str) -> str:
    """Return the shell command that installs these extras for the running sayso.

    pipx and uv keep sayso in a separate environment that pip does not change. So the command
    depends on the path of this interpreter.

    >>> install_command("cel")
    "pip install 'sayso[cel]'"
    """
    return _command(PurePath(sys.prefix), f"sayso[{','.join(extras)}]")


def install_fix(*extras: str) -> str:
    """Return the `fix` of an error for a missing extra."""
    return f"Install it: {install_command(*extras)}."


def _command(prefix: PurePath, requirement: str) -> str:
    parts = prefix.parts
    if "pipx" in parts and "venvs" in parts:
        return f"pipx install --force '{requirement}'"
    if parts[-3:-1] == ("uv", "tools"):
        return f"uv tool install '{requirement}'"
    if any(part.startswith(_UVX_CACHE) for part in parts):
        return f"uvx --from '{requirement}' sayso"
    return f"pip install '{requirement}'"
