"""What is installed for a Python interpreter, told from its files: it is not run."""

import csv
import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath
from typing import Final

from avow.connect.packed import digest_files

_PYTHON: Final = re.compile(r"python(?:3(?:\.\d+)?)?")
_OTHERS: Final = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"})
"""What whoever installed a package has written of that: the same package has other ones."""

_DIST_INFO: Final = ".dist-info"


def is_python(name: str) -> bool:
    """Whether a command of this name is Python itself."""
    return _PYTHON.fullmatch(name) is not None


def venv_of(command: Path) -> Path | None:
    """The virtual environment that a command stands in."""
    root = command.parent.parent
    return root if (root / "pyvenv.cfg").is_file() else None


def packages_of(python: Path, home: Path) -> Path | None:
    """Where the packages of an interpreter lie; `None` where they may lie in several places."""
    venv = venv_of(python)
    root = venv or python.resolve().parent.parent
    found = [*root.glob("lib/python3.*/site-packages")]
    if len(found) != 1:
        return None
    version = found[0].parent.name
    # Outside of an environment, what a user has installed comes first.
    if venv is None and (home / ".local" / "lib" / version / "site-packages").exists():
        return None
    return found[0]


def module_in(folder: Path, module: str) -> bool:
    """Whether a module would be found in a folder before any that is installed."""
    first = module.partition(".")[0]
    return (folder / first).exists() or any(folder.glob(f"{first}.*"))


def find_distribution(site: Path, module: str) -> dict[str, str] | None:
    """The installed package that `python -m MODULE` runs."""
    for one in distributions(path=[str(site)]):
        if _holds(one, module):
            return _described(one, site)
    return None


def find_named(site: Path, name: str) -> dict[str, str] | None:
    """The installed package of this name."""
    for one in distributions(path=[str(site)]):
        if _plain(one.name) == _plain(name):
            return _described(one, site)
    return None


def find_script(site: Path, script: Path) -> dict[str, str] | None:
    """The installed package whose command a script is, if it does nothing but call that."""
    text = script.read_text(encoding="utf-8")
    for one in distributions(path=[str(site)]):
        for entry in one.entry_points.select(group="console_scripts", name=script.name):
            if _holds(one, entry.module) and f"from {entry.module} import" in text:
                return _described(one, site)
    return None


def _holds(distribution: Distribution, module: str) -> bool:
    """Whether its own files are those of a module; those of an editable install are elsewhere."""
    path = module.replace(".", "/")
    wanted = {f"{path}/__main__.py", f"{path}/__init__.py", f"{path}.py"}
    return any(name in wanted for name in _names(distribution))


def _names(distribution: Distribution) -> Iterator[str]:
    record = distribution.read_text("RECORD") or ""
    for row in csv.reader(record.splitlines()):
        if row:
            yield row[0]


def _described(distribution: Distribution, site: Path) -> dict[str, str]:
    files = [*_files(distribution, site)]
    name = _plain(distribution.name)
    digest = digest_files(site, files)
    return {"kind": "pypi", "name": name, "version": distribution.version, "digest": digest}


def _plain(name: str) -> str:
    """The name of a package as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _files(distribution: Distribution, site: Path) -> Iterator[Path]:
    """What was installed, and what else lies in the same folders and may be imported from there."""
    folders: set[Path] = set()
    for name in _names(distribution):
        path = PurePosixPath(name)
        is_about = path.parent.name.endswith(_DIST_INFO)
        if path.is_absolute() or ".." in path.parts or (is_about and path.name in _OTHERS):
            continue  # a command has the interpreter's path in it
        if path.suffix == ".pyc":
            continue
        file = site / path
        if file.is_file():
            yield file
        if len(path.parts) > 1 and not is_about:
            folders.add(file.parent)
    for folder in folders:
        yield from (one for one in folder.glob("*") if one.is_file() and one.suffix != ".pyc")
