"""The source code of the server under test, as far as it is at hand."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from sayso.connect import CommandTarget
from sayso.sandbox import Prepared
from sayso.source import Constants, compared_constants

_PROGRAMS: Final = frozenset({".py", ".js", ".mjs", ".cjs"})
_MOST_FILES: Final = 400
_MOST_BYTES: Final = 400_000
"""The maximum size of a file. Larger ones are bundles, whose names say nothing."""


def constants_of(target: CommandTarget, prepared: Prepared | None) -> Constants:
    """Return the constants that the server's program compares its values with. Reads files."""
    return compared_constants(_texts(_folders(target, prepared)))


def _folders(target: CommandTarget, prepared: Prepared | None) -> Iterator[Sequence[Path]]:
    """Yield the files of each place where the server's own code may lie."""
    if prepared is not None and prepared.kind == "npm":
        folder = prepared.folder / "node_modules" / prepared.name
        yield [
            path for path in _programs(folder, "**/*") if "node_modules" not in _below(path, folder)
        ]
    elif prepared is not None and prepared.kind:
        name = prepared.name.replace("-", "_").lower()
        for site in prepared.folder.glob("lib/python*/site-packages"):
            for folder in sorted(site.iterdir()):
                if folder.name.lower() == name:
                    yield _programs(folder, "**/*.py")
    for word in (target.command, *target.args):
        path = Path(target.cwd or ".") / word
        if path.suffix in _PROGRAMS and path.is_file():
            yield [path, *_programs(path.parent, f"*{path.suffix}")]


def _programs(folder: Path, pattern: str) -> list[Path]:
    found = (path for path in folder.glob(pattern) if path.suffix in _PROGRAMS and path.is_file())
    return sorted(islice(found, _MOST_FILES))


def _below(path: Path, folder: Path) -> tuple[str, ...]:
    return path.relative_to(folder).parts


def _texts(places: Iterator[Sequence[Path]]) -> Iterator[tuple[str, str]]:
    paths = dict.fromkeys(path for place in places for path in place)
    for path in islice(paths, _MOST_FILES):
        try:
            if path.stat().st_size <= _MOST_BYTES:
                yield path.name, path.read_text("utf-8", errors="replace")
        except OSError:
            continue
