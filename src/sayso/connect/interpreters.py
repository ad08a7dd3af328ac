"""The packages of a Python interpreter, found in files without running the interpreter."""

import ast
import csv
import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath
from typing import Any, Final

from sayso.connect.loading import IMPORTED, code_below, unlinked_below
from sayso.connect.package_digest import digest_of, digests_of
from sayso.connect.startup import BYTECODE, has_bytecode

_PYTHON: Final = re.compile(r"python(?:3(?:\.\d+)?)?")
_INSTALLER_FILES: Final = frozenset(
    {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"}
)
"""Installer metadata, excluded because it differs between installs of one package."""

_SHELL: Final = re.compile(r"""'''exec' "?(/[^"\n]+?)"? "\$0" "\$@"\n' '''""")
"""The start of a script if the interpreter's path is too long for a `#!` line."""
_BOILERPLATE: Final = frozenset(
    ast.unparse(ast.parse(text))
    for text in (
        "sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])",
        "sys.argv[0] = re.sub(r'(-script\\.pyw?|\\.exe)?$', '', sys.argv[0])",
        "sys.argv[0] = sys.argv[0].removesuffix('.exe')",
        "if sys.argv[0].endswith('.exe'):\n    sys.argv[0] = sys.argv[0][:-4]",
        """if sys.argv[0].endswith('-script.pyw'):
    sys.argv[0] = sys.argv[0][:-11]
elif sys.argv[0].endswith('.exe'):
    sys.argv[0] = sys.argv[0][:-4]""",
    )
)
"""Statements in scripts by pip, uv and distlib, before the call of a package's function."""
_DIST_INFO: Final = ".dist-info"


def is_python(name: str) -> bool:
    """Return whether a command of this name is Python itself."""
    return _PYTHON.fullmatch(name) is not None


def venv_of(command: Path) -> Path | None:
    """Return the virtual environment that a command is part of."""
    root = command.parent.parent
    if (root / "pyvenv.cfg").is_file():
        return root
    return None


def packages_of(python: Path, home: Path) -> Path | None:
    """Return the folder of an interpreter's packages, or `None` if there may be several."""
    venv = venv_of(python)
    root = venv or python.resolve().parent.parent
    folders = [*root.glob("lib/python3.*/site-packages")]
    if len(folders) != 1:
        return None
    version = folders[0].parent.name
    # Outside of an environment, Python searches the user's own packages first.
    if venv is None and (home / ".local" / "lib" / version / "site-packages").exists():
        return None
    return folders[0]


def module_in(folder: Path, module: str) -> bool:
    """Return whether a folder has a file that hides the installed `module`."""
    first = module.partition(".")[0]
    return (folder / first).exists() or any(folder.glob(f"{first}.*"))


def find_distribution(site: Path, module: str) -> dict[str, Any] | None:
    """Return the installed package that `python -m MODULE` runs."""
    for distribution in distributions(path=[str(site)]):
        if _holds(distribution, module):
            return _described(distribution, site)
    return None


def find_named(site: Path, name: str) -> dict[str, Any] | None:
    """Return the installed package of this name."""
    for distribution in distributions(path=[str(site)]):
        if _plain(distribution.name) == _plain(name):
            return _described(distribution, site)
    return None


def find_script(site: Path, script: Path) -> dict[str, Any] | None:
    """Return the installed package of a script that only calls the package's entry point."""
    text = script.read_text(encoding="utf-8")
    for distribution in distributions(path=[str(site)]):
        for entry in distribution.entry_points.select(group="console_scripts", name=script.name):
            if _holds(distribution, entry.module) and _only_calls(
                text, script, entry.module, entry.attr
            ):
                return _described(distribution, site)
    return None


def _only_calls(text: str, script: Path, module: str, attribute: str) -> bool:
    """Return whether a script only calls one function, in the form that installers write.

    The script's `#!` line must name the interpreter in the same folder, without options.
    """
    lines = text.split("\n", 3)
    marker, _, python = lines[0].partition("#!")
    if lines[0] == "#!/bin/sh" and (match := _SHELL.fullmatch("\n".join(lines[1:3]))):
        python = match[1]
    if marker or Path(python).parent != script.parent or not is_python(Path(python).name):
        return False
    first = attribute.partition(".")[0]
    calls = {f"{attribute}()", f"sys.exit({attribute}())"}
    return all(
        _is_boilerplate(statement, module, first, calls) for statement in ast.parse(text).body
    )


def _is_boilerplate(statement: ast.stmt, module: str, name: str, calls: set[str]) -> bool:
    match statement:
        case ast.Import(names=names):
            return all(each.name in ("re", "sys") and each.asname is None for each in names)
        case ast.ImportFrom(module=imported, names=[ast.alias(name=given, asname=None)], level=0):
            return (imported, given) == (module, name)
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.If(test=ast.Compare(), orelse=[]):
            return ast.unparse(statement.test) == "__name__ == '__main__'" and all(
                ast.unparse(each) in _BOILERPLATE or _is_boilerplate(each, module, name, calls)
                for each in statement.body
            )
        case _:
            return ast.unparse(statement) in calls


def _holds(distribution: Distribution, module: str) -> bool:
    """Return whether the distribution installed the module's files; editable installs do not."""
    path = module.replace(".", "/")
    wanted = {f"{path}/__main__.py", f"{path}/__init__.py", f"{path}.py"}
    return any(name in wanted for name in _names(distribution))


def _names(distribution: Distribution) -> Iterator[str]:
    record = distribution.read_text("RECORD") or ""
    for row in csv.reader(record.splitlines()):
        if row:
            yield row[0]


def _described(distribution: Distribution, site: Path) -> dict[str, Any]:
    digests = digests_of(site, _files(distribution, site))
    description: dict[str, Any] = {
        "kind": "pypi",
        "name": _plain(distribution.name),
        "version": distribution.version,
        "digest": digest_of(digests),
        "files": digests,
    }
    if has_bytecode(site, digests):
        description[BYTECODE] = True
    return description


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _files(distribution: Distribution, site: Path) -> Iterator[Path]:
    """Yield the installed files, and other files that Python loads under the same names."""
    tops: dict[str, set[PurePosixPath]] = {}
    for name in _names(distribution):
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or path.name in _INSTALLER_FILES:
            continue  # a command contains the interpreter's path
        if "__pycache__" in path.parts:
            continue
        if (site / path).is_file():
            yield site / path
        if path.parts and not path.parts[0].endswith(_DIST_INFO):
            tops.setdefault(path.parts[0].partition(".")[0], set()).add(path)
    for top, paths in tops.items():
        yield from _named(site, top, paths, depth=0)


def _named(folder: Path, name: str, paths: set[PurePosixPath], *, depth: int) -> Iterator[Path]:
    """Yield the code that an import of `name` may load from a folder.

    Other distributions share a namespace package (without `__init__`), so from such a package it
    yields only the code under the names in `paths`.
    """
    for entry in folder.iterdir():
        if entry.name.partition(".")[0] != name or entry.name.endswith(_DIST_INFO):
            continue
        if not entry.is_dir():
            if entry.suffix in IMPORTED:
                yield entry
            continue
        if any((entry / f"__init__{ending}").exists() for ending in IMPORTED):
            yield from unlinked_below(entry)
            continue
        below: dict[str, set[PurePosixPath]] = {}
        for path in paths:
            if len(path.parts) > depth + 1 and path.parts[depth] == entry.name:
                below.setdefault(path.parts[depth + 1].partition(".")[0], set()).add(path)
        if not below:
            yield from code_below(entry)
        for inner, inner_paths in below.items():
            yield from _named(entry, inner, inner_paths, depth=depth + 1)
