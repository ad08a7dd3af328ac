"""Which files beside a Python script its process may load, told from their texts.

A file counts if anything that is loaded names it: the script, the files that count already, or what
is installed (which finds a module beside the script before its own). A program that may load what
it does not name, such as plugins of a folder, may load all. So a test or a note beside a server
does not count, and a module that another module's name would now lead to does.
"""

import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from avow.connect import packed
from avow.connect.packed import files_below

IMPORTED: Final = (".py", ".pyc", ".so", ".pyd")
"""The endings of what an import loads. `.pyc` outside of `__pycache__` needs no source."""

_WORD: Final = re.compile(rb"\w+")
_LOADERS: Final = frozenset(
    {
        *(b"importlib", b"__import__", b"exec", b"eval", b"execfile", b"runpy", b"pkgutil"),
        *(b"zipimport", b"imp", b"spec_from_file_location", b"load_module", b"meta_path"),
        *(b"path_hooks", b"entry_points", b"addsitedir", b"__builtins__", b"builtins"),
        *(b"pickle", b"marshal", b"shelve", b"dill", b"cloudpickle", b"joblib"),
    }
)
"""Words of programs that may load what they do not name."""
_LISTERS: Final = frozenset(
    {b"glob", b"rglob", b"iglob", b"listdir", b"scandir", b"iterdir", b"walk"}
)
_RUNNERS: Final = frozenset({b"subprocess", b"system", b"execv", b"execve", b"execvp", b"spawnv"})
_SEARCH_PATH: Final = re.compile(rb"\bsys\s*\.\s*path\b|\bfrom\s+sys\s+import\b")
_STATEMENT: Final = re.compile(rb"\n[ \t]*(?:import|from)[ \t]+([\w., \t]+)")
_FIRST: Final = re.compile(rb",[ \t]*([A-Za-z_]\w*)")
_ON_ONE_LINE: Final = (b": import ", b"; import ", b":import ", b";import ", b": from ", b"; from ")
_LATER_STATEMENT: Final = re.compile(rb"[;:][ \t]*(?:import|from)[ \t]+(\w+)")
_CALLS: Final = (b"import_module(", b"__import__(", b"find_spec(")
_CALL: Final = re.compile(rb"(?:import_module|__import__|find_spec)\(\s*['\"](\w+)")


def python_files(script: Path, site: Path | None) -> list[Path]:
    """Return the code in the folder of a script that its process may load, the script included.

    `site` is where packages are installed for its interpreter; `None` if that is not known, and
    then all code counts. Raises `ValueError` if there are too many files, `OSError` if one cannot
    be read.
    """
    folder = script.parent
    modules = modules_in(folder)
    everything = [script, *(file for files in modules.values() for file in files if file != script)]
    loaded = [script]
    waiting = [script]
    while waiting:
        if any(file.suffix != ".py" and file != script for file in waiting):
            return everything  # machine code or bytecode: it cannot be searched for names
        text = b"\n".join(map(_text_of, waiting))
        if _may_load_unnamed(text):
            return everything
        words = set(_WORD.findall(text))
        named = [name for name in modules if _is_named(name, words, text)]
        if not named:
            named = imported_by_others(modules, site) if site is not None else [*modules]
        waiting = [file for name in named for file in modules.pop(name) if file != script]
        loaded += waiting
    return loaded


def _text_of(file: Path) -> bytes:
    if not file.is_file():
        raise ValueError(file)  # a pipe or a device, which might be waited for
    return file.read_bytes()


def modules_in(folder: Path) -> dict[str, list[Path]]:
    """Return the code in a folder by the name of the module or package that it belongs to."""
    found: dict[str, list[Path]] = {}
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name in ("__pycache__", "node_modules"):
            continue
        if entry.is_dir():
            is_environment = (entry / "pyvenv.cfg").is_file()
            files = [] if is_environment else code_below(entry)
        else:
            files = [entry] if entry.suffix in IMPORTED else []
        if files:
            found.setdefault(entry.name.partition(".")[0], []).extend(files)
        if sum(map(len, found.values())) > packed.MOST_FILES:
            raise ValueError(folder)
    return found


def code_below(folder: Path) -> list[Path]:
    """Return all files below a folder that Python could load.

    Raises `ValueError` for a link to another folder: what is there may change by itself.
    """
    return [file for file in unlinked_below(folder) if file.suffix in IMPORTED]


def unlinked_below(folder: Path) -> list[Path]:
    """Return all files below a folder. Raises `ValueError` for a link to another folder."""
    files = files_below(folder)
    if any(file.is_dir() for file in files):
        raise ValueError(folder)
    return files


def shadowing(folder: Path, site: Path) -> list[str]:
    """Return the modules in a folder that would be found before one that is installed.

    For a process that looks in `folder` first, because it is started there.
    """
    importable: dict[str, list[Path]] = {
        name: files for name, files in _importable(folder) if name.isidentifier()
    }
    return imported_by_others(importable, site)


def _importable(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            if any((entry / f"__init__{ending}").exists() for ending in IMPORTED):
                yield entry.name, [entry / "__init__.py"]
        elif entry.suffix in IMPORTED:
            yield entry.name.partition(".")[0], [entry]


def imported_by_others(modules: Mapping[str, Iterable[Path]], site: Path) -> list[str]:
    """Return the names among `modules` that Python itself, or what is installed, may import."""
    if not modules:
        return []
    imported = _imported_in(site, site.stat().st_mtime_ns)
    return [
        name
        for name, files in modules.items()
        if name in imported or (name in sys.stdlib_module_names and _is_regular(name, files))
    ]


@functools.lru_cache(maxsize=16)
def _imported_in(site: Path, _changed: int) -> frozenset[str]:
    """Return the first part of each name that packages in `site` import.

    Remembered until something is installed there or removed.
    """
    found: set[bytes] = set()
    for text in _texts_below(site):
        for names in _STATEMENT.findall(b"\n" + text):
            found.update(_FIRST.findall(b"," + names.partition(b" import")[0]))
        if any(mark in text for mark in _ON_ONE_LINE):
            found.update(_LATER_STATEMENT.findall(text))
        if any(mark in text for mark in _CALLS):
            found.update(_CALL.findall(text))
    return frozenset(name.decode() for name in found)


def _is_regular(name: str, files: Iterable[Path]) -> bool:
    """Return whether a name is a module or a package: a folder without `__init__` comes last."""
    return any(file.stem in (name, "__init__") or "." in file.stem for file in files)


def _texts_below(site: Path) -> Iterator[bytes]:
    count = 0
    for place, folders, names in os.walk(site):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            if name.endswith(".py"):
                count += 1
                if count > packed.MOST_FILES:
                    raise ValueError(site)
                yield Path(place, name).read_bytes()


def _may_load_unnamed(text: bytes) -> bool:
    words = set(_WORD.findall(text))
    is_listing = not _LISTERS.isdisjoint(words) and not _RUNNERS.isdisjoint(words)
    return is_listing or not _LOADERS.isdisjoint(words) or _SEARCH_PATH.search(text) is not None


def _is_named(name: str, words: set[bytes], text: bytes) -> bool:
    encoded = os.fsencode(name)
    return encoded in words or (not name.isidentifier() and encoded in text)
