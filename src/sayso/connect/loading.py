"""The files beside a Python script that its process may load, found by reading source texts.

A file counts if loaded code names it: the script, a file that counts already, or an installed
package (Python finds a module beside the script first). If a program may load files that it does
not name, such as plugins in a folder, all files count. A test or a note beside a server does not
count.
"""

import functools
import io
import os
import re
import sys
import tokenize
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from sayso.connect import package_digest
from sayso.connect.package_digest import files_below

IMPORTED: Final = (".py", ".pyc", ".so", ".pyd")
"""Endings of files that an import loads. Outside of `__pycache__`, `.pyc` needs no source."""

_WORD: Final = re.compile(r"\w+")
_LOADERS: Final = frozenset(
    {
        *("importlib", "__import__", "exec", "eval", "execfile", "runpy", "pkgutil"),
        *("zipimport", "imp", "spec_from_file_location", "load_module", "meta_path"),
        *("path_hooks", "entry_points", "addsitedir", "__builtins__", "builtins"),
        *("pydoc", "dictConfig", "fileConfig", "import_string", "resolve_name", "pkg_resources"),
        *("ctypes", "cffi", "FunctionType", "stevedore", "pluggy"),
        *("pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"),
    }
)
"""A program with one of these words may load files that it does not name."""
_LISTERS: Final = frozenset({"glob", "rglob", "iglob", "listdir", "scandir", "iterdir", "walk"})
_RUNNERS: Final = frozenset({"subprocess", "system", "execv", "execve", "execvp", "spawnv"})
_SEARCH_PATH: Final = re.compile(r"\bsys\s*\.\s*path\b|\bfrom\s+sys\s+import\b")
_STATEMENT: Final = re.compile(rb"\n[ \t]*(?:import|from)[ \t]+([\w., \t]+)")
_OTHER_VERSIONS: Final = frozenset(
    {
        *("annotationlib", "compression", "_colorize", "_opcode_metadata", "_strptime"),
        *("_pyrepl", "_py_warnings", "_android_support", "_apple_support", "_ios_support"),
        *("aifc", "asynchat", "asyncore", "audioop", "binhex", "cgi", "cgitb", "chunk", "crypt"),
        *("distutils", "formatter", "imghdr", "imp", "lib2to3", "mailcap", "msilib", "nis"),
        *("nntplib", "ossaudiodev", "parser", "pipes", "smtpd", "sndhdr", "spwd", "sunau"),
        *("symbol", "telnetlib", "uu", "xdrlib"),
    }
)
"""Standard modules of Python versions other than the one that runs sayso."""
_OWN_FOLDERS: Final = frozenset({"bin", "include", "lib", "lib64", "share", "Include", "Lib"})
"""Folders of a virtual environment (as `Scripts`) from which a script imports nothing by name."""
_FIRST: Final = re.compile(rb",[ \t]*([A-Za-z_]\w*)")
_ON_ONE_LINE: Final = (b": import ", b"; import ", b":import ", b";import ", b": from ", b"; from ")
_LATER_STATEMENT: Final = re.compile(rb"[;:][ \t]*(?:import|from)[ \t]+(\w+)")
_CALLS: Final = (b"import_module(", b"__import__(", b"find_spec(")
_CALL: Final = re.compile(rb"(?:import_module|__import__|find_spec)\(\s*['\"](\w+)")


def python_files(script: Path, site: Path | None) -> list[Path]:
    """Return the script, and the code in its folder that its process may load.

    `site` is the folder of the interpreter's packages. If it is `None`, all code counts. Raises
    `ValueError` if there are too many files, and `OSError` if a file cannot be read.
    """
    folder = script.parent
    modules = modules_in(folder)
    everything = [script, *(file for files in modules.values() for file in files if file != script)]
    loaded = [script]
    waiting = [script]
    while waiting:
        if any(file.suffix != ".py" and file != script for file in waiting):
            return everything  # machine code or bytecode: it cannot be searched for names
        text = "\n".join(map(_text_of, waiting))
        if _may_load_unnamed(text):
            return everything
        words = set(_WORD.findall(text))
        named = [name for name in modules if _is_named(name, words, text)]
        if not named:
            named = [*modules] if site is None else imported_by_others(modules, site)
        waiting = [file for name in named for file in modules.pop(name) if file != script]
        loaded += waiting
    return loaded


def _text_of(file: Path) -> str:
    """Return a source as Python reads it: in its own encoding, names in one form (PEP 3131)."""
    if not file.is_file():
        raise ValueError(file)  # a pipe or a device, which might be waited for
    data = file.read_bytes()
    try:
        text = data.decode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
    except (LookupError, SyntaxError, UnicodeDecodeError):
        text = data.decode("latin-1")  # Python cannot load it
    return unicodedata.normalize("NFKC", text)


def modules_in(folder: Path) -> dict[str, list[Path]]:
    """Return the code in a folder by the name of the module or package that it belongs to."""
    found: dict[str, list[Path]] = {}
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.name == "node_modules" and not _has_init(entry):
            continue  # npm's, unless it is a package of Python
        if (entry / "pyvenv.cfg").is_file() and not _has_init(entry):
            files = _beside_packages(entry)
        else:
            files = _code_in(entry)
        if files:
            found.setdefault(entry.name.partition(".")[0], []).extend(files)
        if sum(map(len, found.values())) > package_digest.MOST_FILES:
            raise ValueError(folder)
    return found


def _beside_packages(environment: Path) -> list[Path]:
    found: list[Path] = []
    for entry in environment.iterdir():
        if entry.name not in _OWN_FOLDERS and entry.name not in ("Scripts", "__pycache__"):
            found += _code_in(entry)
    return found


def _code_in(entry: Path) -> list[Path]:
    if entry.is_dir():
        return code_below(entry)
    return [entry] if entry.suffix in IMPORTED else []


def code_below(folder: Path) -> list[Path]:
    """Return all files below a folder that Python could load.

    Raises `ValueError` for a link to another folder, whose files may change independently.
    """
    return [file for file in unlinked_below(folder) if file.suffix in IMPORTED]


def unlinked_below(folder: Path) -> list[Path]:
    """Return all files below a folder. Raises `ValueError` for a link to another folder."""
    files = files_below(folder)
    if any(file.is_dir() for file in files):
        raise ValueError(folder)
    return files


def shadowing(folder: Path, site: Path | None, named_by: Iterable[Path] = ()) -> list[str]:
    """Return the modules in a folder that hide installed ones.

    The process starts in `folder`, so it searches there first. It runs the sources `named_by` and
    the packages in `site`. If `site` is unknown, all modules count.
    """
    importable = dict(_importable(folder, site))
    if site is None:
        return [*importable]
    words = set(_WORD.findall("\n".join(map(_text_of, named_by))))
    imported = imported_by_others(importable, site)
    return [*imported, *(name for name in importable if _normal(name) in words)]


def _importable(folder: Path, site: Path | None) -> Iterator[tuple[str, list[Path]]]:
    for entry in folder.iterdir():
        name = entry.name.partition(".")[0]
        if not name.isidentifier():
            continue
        if not entry.is_dir():
            if entry.suffix in IMPORTED:
                yield name, [entry]
        elif _has_init(entry):
            yield name, [entry / "__init__.py"]
        elif not (site is not None and _is_whole(site, name)) and _holds_code(entry):
            yield name, []


def _has_init(folder: Path) -> bool:
    return any((folder / f"__init__{ending}").exists() for ending in IMPORTED)


def _is_whole(site: Path, name: str) -> bool:
    """Return whether the installed `name` takes precedence over a folder without `__init__`."""
    return _has_init(site / name) or any(file.suffix in IMPORTED for file in site.glob(f"{name}.*"))


def _holds_code(folder: Path) -> bool:
    """Return whether Python could load code from a folder; true if that is uncertain."""
    try:
        return code_below(folder) != []
    except ValueError:
        return True


def imported_by_others(modules: Mapping[str, Iterable[Path]], site: Path) -> list[str]:
    """Return the names in `modules` that Python or an installed package may import."""
    if not modules:
        return []
    imported = _imported_in(site, site.stat().st_mtime_ns)
    standard = sys.stdlib_module_names | _OTHER_VERSIONS
    return [
        name
        for name, files in modules.items()
        if _normal(name) in imported or (name in standard and _is_regular(name, files))
    ]


@functools.lru_cache(maxsize=16)
def _imported_in(site: Path, _changed: int) -> frozenset[str]:
    """Return the first part of each name that packages in `site` import.

    Cached until `site` changes, because a package is installed or removed.
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
    return any(file.stem in (name, "__init__") or "." in file.stem for file in files)


def _texts_below(site: Path) -> Iterator[bytes]:
    count = 0
    for place, folders, names in os.walk(site):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            if name.endswith(".py"):
                count += 1
                if count > package_digest.MOST_FILES:
                    raise ValueError(site)
                yield Path(place, name).read_bytes()


def _may_load_unnamed(text: str) -> bool:
    words = set(_WORD.findall(text))
    is_listing = not _LISTERS.isdisjoint(words) and not _RUNNERS.isdisjoint(words)
    return is_listing or not _LOADERS.isdisjoint(words) or _SEARCH_PATH.search(text) is not None


def _is_named(name: str, words: set[str], text: str) -> bool:
    normal = _normal(name)
    return normal in words or (not normal.isidentifier() and normal in text)


def _normal(name: str) -> str:
    return unicodedata.normalize("NFKC", name)
