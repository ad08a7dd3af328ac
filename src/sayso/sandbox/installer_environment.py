"""Settings of this machine that an installer gets: proxies, certificates, registries."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from sayso.connect import child_environment
from sayso.sandbox import bubblewrap
from sayso.sandbox.bind import is_crowded, is_system

_PREFIXES: Final = ("PIP_", "UV_", "npm_config_", "NPM_CONFIG_")
_NOT_PASSED: Final = frozenset(
    (
        *("HOME", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER"),
        *("NPM_CONFIG_USERCONFIG", "PIP_CONFIG_FILE", "UV_CONFIG_FILE"),
        *("PIP_CACHE_DIR", "UV_CACHE_DIR"),
    )
)
_FILES: Final = {
    ".npmrc": ("NPM_CONFIG_USERCONFIG", ".npmrc"),
    ".config/pip/pip.conf": ("PIP_CONFIG_FILE", ".config/pip/pip.conf"),
    ".config/uv/uv.toml": ("UV_CONFIG_FILE", ".config/uv/uv.toml"),
}
_PATH: Final = re.compile(r"(?<![\w:/])(?:file://)?(/[\w.@+-]+(?:/[\w.@+-]+)*)")


def online_environment(home: str, *, allows_scripts: bool) -> dict[str, str]:
    """Return the variables of this environment that say how to reach a registry.

    Installers' own variables may hold a token, which package scripts must not see.
    """
    kept = child_environment({})
    if not allows_scripts:
        kept |= {key: value for key, value in os.environ.items() if key.startswith(_PREFIXES)}
    fixed = {"npm_config_cache": f"{home}/.npm", "UV_PYTHON_DOWNLOADS": "never"}
    passed = {key: value for key, value in kept.items() if key not in _NOT_PASSED}
    return {key: value for key, value in passed.items() if not key.startswith("XDG_")} | fixed


def settings_seen(*, allows_scripts: bool) -> tuple[tuple[str, Path], ...]:
    """Return the installers' settings files and their paths inside.

    A file may contain a token for a private registry, which package scripts could read. So the
    result is empty if scripts are allowed.
    """
    if allows_scripts:
        return ()
    return tuple((f"{bubblewrap.HOME}/{inside}", file) for inside, file in _settings())


def paths_named(environment: Mapping[str, str], *, allows_scripts: bool) -> tuple[Path, ...]:
    """Return the paths that variables and settings name, such as certificates and packages."""
    texts = list(environment.values())
    if not allows_scripts:
        texts += [file.read_text(encoding="utf-8", errors="replace") for _, file in _settings()]
    found = {Path(path) for text in texts for path in _PATH.findall(text)}
    return tuple(sorted(path for path in found if path.exists() and not _is_left_out(path)))


def _is_left_out(path: Path) -> bool:
    return is_system(path) or is_crowded(path) or path.is_relative_to("/etc/ssl")


def _settings() -> Iterator[tuple[str, Path]]:
    for inside, (variable, default) in _FILES.items():
        file = Path(os.environ.get(variable) or Path("~").expanduser() / default)
        if file.is_file():
            yield inside, file
