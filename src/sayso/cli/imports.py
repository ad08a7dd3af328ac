"""The Python files that a server's file imports from, as far as they lie around it."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from sayso.errors import ConfigError
from sayso.source import read_module

_MOST: Final = 200
_LARGEST: Final = 1_000_000
_UP: Final = 3
"""How many folders above the file's its own package may be imported from."""


def read_nearby(path: str, text: str) -> Mapping[str, str]:
    """A file, first, and those that it imports from, and so on: at most 200, by their names.

    A neighbour that cannot be read, or is not Python, is left out.
    """
    file = Path(path)
    folders = [file.parent, *[*file.resolve().parent.parents][:_UP]]
    found = {path: text}
    seen = {file.resolve()}
    waiting = [(path, text)]
    while waiting and len(found) < _MOST:
        for near in _imported(*waiting.pop(), folders):
            if near.resolve() not in seen:
                seen.add(near.resolve())
                if (more := _text(near)) is not None:
                    found[str(near)] = more
                    waiting.append((str(near), more))
    return found


def _imported(path: str, text: str, folders: list[Path]) -> Iterator[Path]:
    try:
        module = read_module(path, text)
    except ConfigError:
        return
    for dotted in module.imports.values():
        parts = dotted.split(".")
        if parts[0] in sys.stdlib_module_names:
            continue
        for folder in [*folders, Path(Path(path).anchor)]:
            for end in range(1, len(parts) + 1):
                place = folder.joinpath(*parts[:end])
                yield from (place.with_suffix(".py"), place / "__init__.py")


def _text(file: Path) -> str | None:
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return None
        text = file.read_text(encoding="utf-8")
        read_module(str(file), text)
    except (OSError, UnicodeDecodeError, ConfigError):
        return None
    return text
