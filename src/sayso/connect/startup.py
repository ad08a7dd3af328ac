"""Code and variables that affect a process before its program starts, such as `.pth` files."""

import base64
import csv
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

NO_FOREIGN_BYTECODE: Final = {
    # No file can exist there, so Python compiles each module from its source.
    "PYTHONPYCACHEPREFIX": "/dev/null/sayso",
    "PYTHONDONTWRITEBYTECODE": "1",
    "NODE_DISABLE_COMPILE_CACHE": "1",
}
"""Variables that make a process ignore bytecode, which may differ from the sources."""

BYTECODE: Final = "bytecode"
"""The key in the description of a package that has bytecode next to its sources."""

_STEERING: Final = ("PYTHON", "NODE_", "LD_", "DYLD_", "NPM_CONFIG_", "UV_", "BASH_ENV", "ENV")
_HARMLESS: Final = frozenset(
    {
        *("PYTHONUNBUFFERED", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONDONTWRITEBYTECODE"),
        *("PYTHONHASHSEED", "PYTHONFAULTHANDLER", "PYTHONNOUSERSITE", "PYTHONASYNCIODEBUG"),
        *("PYTHONTRACEMALLOC", "PYTHONDEVMODE", "PYTHONLEGACYWINDOWSSTDIO", "NODE_ENV"),
        *("NODE_NO_WARNINGS", "NODE_EXTRA_CA_CERTS", "NODE_DISABLE_COMPILE_CACHE", "NODE_DEBUG"),
        *("NODE_TLS_REJECT_UNAUTHORIZED", "NPM_CONFIG_CACHE", "NPM_CONFIG_REGISTRY"),
        *("NPM_CONFIG_USERCONFIG", "NPM_CONFIG_LOGLEVEL", "NPM_CONFIG_UPDATE_NOTIFIER"),
        *("UV_TOOL_DIR", "UV_CACHE_DIR", "UV_CONFIG_FILE", "UV_DEFAULT_INDEX", "UV_OFFLINE"),
        *("UV_NO_PROGRESS",),
    }
)
_CUSTOMIZED: Final = ("sitecustomize", "usercustomize")
_VIRTUALENV: Final = "07584d2a5d13e0811eb567d78ed2aca0fb60e7defff59a01ca7a48d907bdea51"
"""The `_virtualenv.py` that virtualenv writes into each environment."""
_SYSTEM_PACKAGES: Final = re.compile(
    r"^\s*include-system-site-packages\s*=\s*true", re.IGNORECASE | re.MULTILINE
)


def has_bytecode(root: Path, files: Iterable[str]) -> bool:
    """Return whether any of these Python sources, relative to `root`, has bytecode beside it."""
    return any(
        next((root / name).parent.glob(f"__pycache__/{Path(name).stem}.*"), None) is not None
        for name in files
        if name.endswith(".py")
    )


def steering(env: Mapping[str, str]) -> list[str]:
    """Return the variables that may make a program load code from outside its package.

    Variables of Python, Node.js, npm, uv and the dynamic linker count, except the harmless ones.
    """
    return [
        name
        for name in env
        if name.upper().startswith(_STEERING)
        and name.upper() not in _HARMLESS
        and (name.upper() not in ("ENV", "BASH_ENV") or env[name])
    ]


def is_accounted_for(site: Path, venv: Path | None) -> bool:
    """Return whether all code that runs at the interpreter's start is from installed packages.

    `site` is the folder of packages. The `RECORD` of a package must list the code with its digest,
    as installers do. Raises `OSError` if a file cannot be read.
    """
    if venv is not None and _SYSTEM_PACKAGES.search((venv / "pyvenv.cfg").read_text()):
        return False
    starting = [*_starting(site)]
    if not starting:
        return True
    recorded = dict(_recorded(site))
    return all(file.is_file() and _is_recorded(file, recorded) for file in starting)


def _starting(site: Path) -> Iterator[Path]:
    for entry in sorted(site.iterdir()):
        is_customized = entry.name.partition(".")[0] in _CUSTOMIZED
        if is_customized or (entry.suffix == ".pth" and _runs_code(entry)):
            yield entry


def _runs_code(file: Path) -> bool:
    lines = file.read_bytes().splitlines()
    return any(line.lstrip(b"\xef\xbb\xbf").startswith((b"import ", b"import\t")) for line in lines)


def _is_recorded(file: Path, recorded: Mapping[str, bytes]) -> bool:
    if recorded.get(file.name) == hashlib.sha256(file.read_bytes()).digest():
        return True
    code = file.with_suffix(".py")
    return (
        file.name == "_virtualenv.pth"
        and file.read_bytes().strip() == b"import _virtualenv"
        and hashlib.sha256(code.read_bytes()).hexdigest() == _VIRTUALENV
        and not any(file.parent.glob("_virtualenv*.so"))
        and not (file.parent / "_virtualenv").exists()
    )


def _recorded(site: Path) -> Iterator[tuple[str, bytes]]:
    for record in site.glob("*.dist-info/RECORD"):
        for row in csv.reader(record.read_text(encoding="utf-8").splitlines()):
            if len(row) > 1 and "/" not in row[0] and row[1].startswith("sha256="):
                text = row[1].removeprefix("sha256=")
                yield row[0], base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
