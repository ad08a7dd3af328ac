"""What `sayso lint` looks at: the tools of each target, and where they stand in which file."""

import contextlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from sayso.cli.receipts import Verdicts, Vouched
from sayso.cli.surface import Answer, read_answers
from sayso.connect import SavedTarget, Target, lines_of_servers, read_saved, steps_to_tools
from sayso.errors import ConfigError, SaysoError
from sayso.lint import (
    Definition,
    Handler,
    Listing,
    Places,
    handlers_in,
    make_listing,
    places_in,
    read_definitions,
)
from sayso.schema import object_of, text_of
from sayso.settings import parse_json, read_json, read_text
from sayso.source import read_module

PYTHON: Final = re.compile(r"(?P<path>.+\.py)(?::.*)?", re.DOTALL)
"""A server's file as a command line names it."""

_MOST_FILES: Final = 200
_LARGEST: Final = 1_000_000
_UP: Final = 3
"""How many folders above the file's its own package may be imported from."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The text of a saved list, and the keys that lead to its tools."""

    path: str
    text: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A file that a target was named by, its tools and handlers, or the lines of its `servers`."""

    file: str
    definitions: Mapping[str, Definition]
    handlers: Mapping[str, Handler] = field(default_factory=dict[str, Handler])
    is_python: bool = False
    servers: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Linted:
    """One server's tools, with their places.

    `verdicts` are those of receipts. `saved` where they stand in a file that is theirs, `python`
    where a file of source defines them.
    """

    listing: Listing
    places: Places
    saved: Saved | None = None
    python: str | None = None
    verdicts: Verdicts | None = None

    def with_text(self, text: str) -> "Linted":
        """The same after its file's text has changed."""
        if self.saved is None:
            return self
        target = read_saved(parse_json(self.saved.path, text))
        return _from_saved(target, replace(self.saved, text=text), self.verdicts)


def source_of(words: Sequence[str], targets: Sequence[Target]) -> Source | None:
    """Return the file that a command line names: Python or a configuration, none for a URL."""
    if len(words) != 1:
        return None
    if match := PYTHON.fullmatch(words[0]):
        return read_source(match["path"])
    path = words[0].partition("#")[0]
    is_file = "://" not in path and not isinstance(targets[0], SavedTarget) and Path(path).is_file()
    if not is_file:
        return None
    lines: Mapping[str, int] = {}
    with contextlib.suppress(SaysoError, OSError):  # another kind of file
        lines = lines_of_servers(read_json(path))
    return Source(path, {}, servers=lines)


def read_source(path: str) -> Source:
    """Read a server's Python file, and what the handlers in it and in its imports do."""
    text = read_text(path)
    definitions = read_definitions(text)
    with contextlib.suppress(SaysoError):  # what is wrong with it is told when it is started
        return Source(path, definitions, handlers_in(read_nearby(path, text)), is_python=True)
    return Source(path, definitions, is_python=True)


async def read_linted(
    targets: Sequence[Target], source: Source | None, timeout: float, vouched: Vouched | None = None
) -> list[Linted | SaysoError]:
    """Read the tools of all targets; an error stands for one that could not be asked."""
    answers = await read_answers(targets, timeout)
    names = {
        target.name: _names(answer)
        for target, answer in zip(targets, answers, strict=True)
        if isinstance(answer, Answer)
    }
    found: list[Linted | SaysoError] = []
    for target, answer in zip(targets, answers, strict=True):
        if isinstance(answer, SaysoError):
            found.append(answer)
            continue
        verdicts = vouched and vouched.verdicts(target, answer.entries)
        others = _others(names, target.name)
        found.append(_linted(target, answer, source, others=others, verdicts=verdicts))
    return found


def list_tools(
    name: str,
    entries: Sequence[object],
    source: Source | None,
    *,
    others: Mapping[str, str],
    verdicts: Verdicts | None = None,
) -> Listing:
    """Return what is linted of a server, with what its source says of its tools."""
    if source is None:
        return make_listing(name, entries, verdicts=verdicts, others=others)
    return make_listing(
        name,
        entries,
        definitions=source.definitions,
        handlers=source.handlers,
        verdicts=verdicts,
        others=others,
    )


def _linted(
    target: Target,
    answer: Answer,
    source: Source | None,
    *,
    others: Mapping[str, str],
    verdicts: Verdicts | None,
) -> Linted:
    if isinstance(target, SavedTarget):
        text = read_text(target.path)
        if target.path.lower().endswith(".jsonl"):
            listing = make_listing(target.name, target.tools, verdicts=verdicts)
            return Linted(listing, _places_by_line(target, text))
        steps = steps_to_tools(parse_json(target.path, text).value)
        return _from_saved(target, Saved(target.path, text, steps), verdicts)
    listing = list_tools(target.name, answer.entries, source, others=others, verdicts=verdicts)
    if source is None:
        return Linted(listing, Places())
    definitions = source.definitions
    lines = {
        tool.index: definitions[tool.name].line
        for tool in listing.tools
        if tool.name in definitions
    }
    python = source.file if source.is_python else None
    first = source.servers.get(target.name, 1)
    return Linted(listing, Places(source.file, lines, first), python=python)


def _from_saved(target: SavedTarget, saved: Saved, verdicts: Verdicts | None) -> Linted:
    text = parse_json(saved.path, saved.text).text
    places = places_in(saved.path, text, saved.steps)
    listing = make_listing(target.name, target.tools, verdicts=verdicts)
    return Linted(listing, places, saved, verdicts=verdicts)


def _places_by_line(target: SavedTarget, text: str) -> Places:
    numbers = [number for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return Places(target.path, dict(enumerate(numbers)))


def _names(answer: Answer) -> list[str]:
    return [name for entry in answer.entries if (name := text_of(object_of(entry).get("name")))]


def _others(names: Mapping[str, list[str]], server: str) -> dict[str, str]:
    """Return the tools of the other servers, each with its server's name."""
    return {tool: name for name, tools in names.items() if name != server for tool in tools}


def read_nearby(path: str, text: str) -> Mapping[str, str]:
    """Return a file and the readable Python files around it that it imports from, by name."""
    file = Path(path)
    folders = [file.parent, *[*file.resolve().parent.parents][:_UP]]
    found = {path: text}
    seen = {file.resolve()}
    waiting = [(path, text)]
    while waiting and len(found) < _MOST_FILES:
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
