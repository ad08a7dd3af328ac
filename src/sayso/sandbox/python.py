"""The files that a Python interpreter needs: prefix, base, folders in .pth files, the script.

No file is run, not even to ask the interpreter: a package may contain code that starts with it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.sandbox.bind import Bind, folder_or_file, is_crowded
from sayso.sandbox.executables import links_of

_NAME: Final = re.compile(r"(python|pypy)[\d.]*t?")
_WITH_VALUE: Final = frozenset(("-W", "-X", "--check-hash-based-pycs"))
_LAUNCHER: Final = "sayso.connect.launch"


@dataclass(frozen=True, slots=True)
class Started:
    """The argument that an interpreter runs: `kind` is `script`, `module` or `code`."""

    kind: str
    index: int


def is_python(program: Path) -> bool:
    """Return whether a program is a Python interpreter, by its name."""
    return bool(_NAME.fullmatch(program.name))


def interpreter_binds(program: Path) -> Iterator[Bind]:
    """Yield the prefix of an interpreter, of each link target, and of its base."""
    for hop in links_of(program):
        prefix = hop.parent
        if prefix.name == "bin":
            prefix = prefix.parent
        if (prefix / "pyvenv.cfg").is_file():
            yield Bind(prefix, is_package=True)
            yield from _base_binds(prefix)
            yield from map(_package, named_folders(prefix))
        elif (prefix / "lib").is_dir() and not is_crowded(prefix):
            yield Bind(prefix)
        else:
            yield Bind(hop)


def _base_binds(environment: Path) -> Iterator[Bind]:
    text = (environment / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    if match := re.search(r"^home\s*=\s*(.+?)\s*$", text, re.MULTILINE):
        home = Path(match[1])
        for base in (home.parent, home.resolve().parent):
            if not is_crowded(base):
                yield Bind(base)


def named_folders(prefix: Path) -> Iterator[Path]:
    """Yield the folders of editable packages that lie outside a prefix."""
    for packages in sorted(prefix.glob("lib*/python3*/site-packages")):
        names = [line for file in packages.glob("*.pth") for line in _folders_of(file)]
        names += [path for file in packages.glob("__editable__*.py") for path in _mapped(file)]
        for name in names:
            path = packages / name
            if path.is_dir() and not path.is_relative_to(prefix) and not is_crowded(path):
                yield path


def _folders_of(file: Path) -> list[str]:
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith(("import", "#"))]


def _mapped(file: Path) -> list[str]:
    return re.findall(r"'(/[^']+)'", file.read_text(encoding="utf-8", errors="replace"))


def read_arguments(args: Sequence[str]) -> Started | None:
    """Return what the interpreter's arguments run, or `None` if they run nothing.

    >>> read_arguments(["-u", "-m", "pkg"])
    Started(kind='module', index=2)
    """
    index = 0
    while index < len(args):
        word = args[index]
        if word in ("-m", "-c"):
            return Started({"-m": "module", "-c": "code"}[word], index + 1)
        if not word.startswith("-"):
            return Started("script", index)
        index += 1 + (word in _WITH_VALUE)
    return None


def script_binds(args: Sequence[str], cwd: Path) -> tuple[tuple[str, ...], list[Bind]]:
    """Return the arguments with the script's path made absolute, and the script's binds."""
    words = list(args)
    started = read_arguments(args)
    if started is None or started.index >= len(words):
        return tuple(words), []
    index = started.index
    if started.kind == "module" and words[index] == _LAUNCHER and index + 1 < len(words):
        index += 1
    elif started.kind == "module":
        return tuple(words), _local_module(words[index], cwd)
    elif started.kind == "code":
        return tuple(words), []
    script = (cwd / Path(words[index]).expanduser()).absolute()
    if not script.exists():
        return tuple(words), []
    words[index] = str(script)
    if script.is_dir():
        return tuple(words), [_package(script)]
    return tuple(words), [_package(folder_or_file(script))]


def _local_module(name: str, cwd: Path) -> list[Bind]:
    top = cwd / name.split(".", 1)[0]
    is_there = top.is_dir() or top.with_suffix(".py").is_file()
    if not is_there or is_crowded(cwd):
        return []
    return [_package(cwd)]


def _package(path: Path) -> Bind:
    return Bind(path, is_package=True)
