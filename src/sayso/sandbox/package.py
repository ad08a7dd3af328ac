"""What was run: its name, its version, and one digest of its files, for a receipt to bind to."""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from sayso.errors import UsageError

_LEFT_OUT: Final = frozenset((".git", ".hg", ".svn", "__pycache__", ".ruff_cache", ".pytest_cache"))
_OF_THE_PLACE: Final = frozenset((".package-lock.json", "RECORD", "INSTALLER", "direct_url.json"))
"""What installers write about when, how and where they installed."""

_MOST_FILES: Final = 200_000


@dataclass(frozen=True, slots=True)
class Package:
    """A server's package. `digest` is the SHA-256 of its files in hexadecimal.

    `kind` is `npm`, `pypi` or `files`; name and version are empty where nobody says them.
    """

    kind: str
    name: str
    version: str
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """As reports and receipts have it."""
        return {
            "kind": self.kind,
            "name": self.name,
            "version": self.version,
            "digest": {"sha256": self.digest},
        }


def digest_files(roots: Sequence[Path]) -> str:
    """One SHA-256 over all files below some folders, or over single files.

    Over the lines `sha256 path`, sorted by path, each path relative to its root; of a symbolic
    link, where it leads. Bytecode and what installers note about the place do not count, so the
    same package has the same digest in any place. Raises `UsageError` for more files than a
    package has.
    """
    lines = sorted(line for root in roots for line in _lines(root))
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _lines(root: Path) -> Iterator[str]:
    if not root.is_dir():
        yield f"{_digest(root)} {root.name}\n"
        return
    for count, path in enumerate(_files(root)):
        if count >= _MOST_FILES:
            raise UsageError(
                f"a package of more than {_MOST_FILES} files cannot be told by its digest",
                where=str(root),
                fix="Put the server into a folder of its own.",
            )
        yield f"{_digest(path)} {path.relative_to(root).as_posix()}\n"


def _files(root: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(root):
        linked = [name for name in names if (Path(folder) / name).is_symlink()]
        names[:] = [name for name in names if name not in _LEFT_OUT and name not in linked]
        for name in (*files, *linked):
            if name not in _OF_THE_PLACE and not name.endswith((".pyc", ".pyo")):
                yield Path(folder) / name


def _digest(path: Path) -> str:
    if path.is_symlink():
        return hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
    if not path.is_file():
        return hashlib.sha256(b"").hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def package_of_files(paths: Sequence[Path]) -> Package:
    """The package of a server that is started from files: its script, or its folder."""
    first = paths[0] if paths else Path()
    return Package("files", first.name, "", digest_files(paths))


def npm_package(modules: Path, name: str) -> Package:
    """An npm package with all that it depends on: everything below `node_modules`."""
    try:
        text = (modules / name / "package.json").read_text(encoding="utf-8")
        version = str(cast("dict[str, Any]", json.loads(text)).get("version", ""))
    except (OSError, ValueError):
        version = ""
    return Package("npm", name, version, digest_files([modules]))


def pypi_package(packages: Path, name: str) -> Package:
    """A package from PyPI with all that it depends on: everything in `site-packages`."""
    wanted = plain_name(name)
    for info in sorted(packages.glob("*.dist-info")):
        found, _, version = info.name.removesuffix(".dist-info").partition("-")
        if plain_name(found) == wanted:
            return Package("pypi", wanted, version, digest_files([packages]))
    return Package("pypi", wanted, "", digest_files([packages]))


def plain_name(name: str) -> str:
    """The name of a Python package as indexes compare it (PEP 503).

    >>> plain_name("Mcp_Server.Git")
    'mcp-server-git'
    """
    return re.sub(r"[-_.]+", "-", name).lower()
