"""Install commands for optional dependencies, right for the sayso that is running."""

import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from sayso.install_source import InstallSource, default_source, recorded_source
from sayso.installation import (
    LASTING,
    REPLACING,
    Environment,
    Installer,
    command_words,
    find_installer,
    shell_line,
)

_REQUIRED: Final = re.compile(
    r"""(?P<name>[\w.-]+)[^;]*;.*\bextra\s*==\s*["'](?P<extra>[\w.-]+)["']"""
)
"""A dependency of an extra, as the metadata of a package names it."""


def install_command(*extras: str) -> str:
    """Return the shell command that installs these extras for the running sayso."""
    environment = _this_environment()
    return _command(find_installer(environment), environment, extras)


def install_fix(*extras: str) -> str:
    """Return the `fix` of an error for a missing extra."""
    return f"Install it: {install_command(*extras)}."


def lasting_command() -> str | None:
    """Return the command that installs sayso for good, if it runs from a cache, else None."""
    environment = _this_environment()
    lasting = LASTING.get(find_installer(environment))
    return None if lasting is None else _command(lasting, environment, ())


def present_extras(
    requirements: Iterable[str], is_installed: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return the extras of which all dependencies are installed.

    >>> requirements = ["anyio", "libcst>=1.8; extra == 'patch'", "mcp; extra == 'agents'"]
    >>> present_extras(requirements, lambda name: name != "mcp")
    ('patch',)
    """
    needed: dict[str, list[str]] = {}
    for match in filter(None, map(_REQUIRED.match, requirements)):
        needed.setdefault(match["extra"], []).append(match["name"])
    return tuple(extra for extra, names in needed.items() if all(map(is_installed, names)))


def _command(installer: Installer, environment: Environment, extras: tuple[str, ...]) -> str:
    requirements, record = _metadata()
    if installer in REPLACING:
        extras = tuple(dict.fromkeys((*present_extras(requirements, _is_installed), *extras)))
    source = _usable_source(record)
    option = ("--editable",) if source.is_editable else ()
    return shell_line(command_words(installer, environment, (*option, source.requirement(*extras))))


def _usable_source(record: str | None) -> InstallSource:
    """Return the recorded source, or the default if it is not there any more."""
    source = recorded_source(record)
    if source is None or (source.location.startswith("/") and not Path(source.location).exists()):
        return default_source()
    return source


def _metadata() -> tuple[list[str], str | None]:
    """Return sayso's requirements and `direct_url.json`; nothing if it is not installed."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - costs 10 ms

    try:
        package = distribution("sayso")
    except PackageNotFoundError:
        return [], None
    return package.requires or [], package.read_text("direct_url.json")


def _is_installed(name: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - costs 10 ms

    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _this_environment() -> Environment:
    prefix = Path(sys.prefix)
    active = os.environ.get("VIRTUAL_ENV")
    return Environment(
        prefix,
        sys.executable,
        folder=Path(os.environ.get("PWD", "/")),
        files=_names(prefix),
        project_files=_names(prefix.parent),
        is_made_by_uv=_is_made_by_uv(prefix),
        is_active=active is not None and Path(active) == prefix,
    )


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))  # noqa: PTH208 - names, not paths
    except OSError:
        return frozenset()


def _is_made_by_uv(prefix: Path) -> bool:
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.partition("=")[0].strip() == "uv" for line in lines)
