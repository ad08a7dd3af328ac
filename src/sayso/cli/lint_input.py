"""Input of `sayso lint`: each target's tools, with the file and line that define each tool."""

import contextlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from sayso.cli.receipts import TrustedReceipts, Verdicts
from sayso.cli.tool_reading import Answer, read_answers
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
"""A Python file on the command line: `server.py` or `server.py:object`."""

_MAX_FILES: Final = 200
_MAX_FILE_BYTES: Final = 1_000_000
_MAX_PARENTS: Final = 3
"""How many parent folders are searched for the modules that a file imports."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The text of a saved `tools/list`; `steps` are the keys that lead to its tools."""

    path: str
    text: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A Python file with tool definitions, or a configuration with the line of each server."""

    file: str
    definitions: Mapping[str, Definition]
    handlers: Mapping[str, Handler] = field(default_factory=dict[str, Handler])
    is_python: bool = False
    servers: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class LintInput:
    """One server's tools, with their places in files and the verdicts of receipts.

    `saved` is set for a saved list. `python` is the path of a Python file that defines the tools.
    """

    listing: Listing
    places: Places
    saved: Saved | None = None
    python: str | None = None
    verdicts: Verdicts | None = None

    def with_text(self, text: str) -> "LintInput":
        """Return this input with `text` as the new text of the saved list."""
        if self.saved is None:
            return self
        target = read_saved(parse_json(self.saved.path, text))
        return _from_saved(target, replace(self.saved, text=text), self.verdicts)


def source_of(words: Sequence[str], targets: Sequence[Target]) -> Source | None:
    """Read the Python file or configuration in `words`; return `None` for other targets."""
    if len(words) != 1:
        return None
    if match := PYTHON.fullmatch(words[0]):
        return read_source(match["path"])
    path = words[0].partition("#")[0]
    if "://" in path or isinstance(targets[0], SavedTarget) or not Path(path).is_file():
        return None
    lines: Mapping[str, int] = {}
    with contextlib.suppress(SaysoError, OSError):  # the file is not a configuration
        lines = lines_of_servers(read_json(path))
    return Source(path, {}, servers=lines)


def read_source(path: str) -> Source:
    """Read a server's Python file, and the tool handlers in that file and its imports."""
    text = read_text(path)
    definitions = read_definitions(text)
    with contextlib.suppress(SaysoError):  # starting the server reports the error
        return Source(path, definitions, handlers_in(read_nearby(path, text)), is_python=True)
    return Source(path, definitions, is_python=True)


async def read_lint_input(
    targets: Sequence[Target],
    source: Source | None,
    timeout: float,
    trusted: TrustedReceipts | None = None,
) -> list[LintInput | SaysoError]:
    """Read the tools of all targets; a target that fails yields its error."""
    answers = await read_answers(targets, timeout)
    names = {
        target.name: _names(answer)
        for target, answer in zip(targets, answers, strict=True)
        if isinstance(answer, Answer)
    }
    inputs: list[LintInput | SaysoError] = []
    for target, answer in zip(targets, answers, strict=True):
        if isinstance(answer, SaysoError):
            inputs.append(answer)
            continue
        verdicts = trusted and trusted.verdicts(target, answer.entries)
        others = _others(names, target.name)
        inputs.append(_make_input(target, answer, source, others=others, verdicts=verdicts))
    return inputs


def list_tools(
    name: str,
    entries: Sequence[object],
    source: Source | None,
    *,
    others: Mapping[str, str],
    verdicts: Verdicts | None = None,
) -> Listing:
    """Return a server's listing for the linter, with the definitions in its source."""
    return make_listing(
        name,
        entries,
        definitions=source.definitions if source else None,
        handlers=source.handlers if source else None,
        verdicts=verdicts,
        others=others,
    )


def _make_input(
    target: Target,
    answer: Answer,
    source: Source | None,
    *,
    others: Mapping[str, str],
    verdicts: Verdicts | None,
) -> LintInput:
    if isinstance(target, SavedTarget):
        text = read_text(target.path)
        if target.path.lower().endswith(".jsonl"):
            listing = make_listing(target.name, target.tools, verdicts=verdicts)
            return LintInput(listing, _places_by_line(target, text))
        steps = steps_to_tools(parse_json(target.path, text).value)
        return _from_saved(target, Saved(target.path, text, steps), verdicts)
    listing = list_tools(target.name, answer.entries, source, others=others, verdicts=verdicts)
    if source is None:
        return LintInput(listing, Places())
    definitions = source.definitions
    lines = {
        tool.index: definitions[tool.name].line
        for tool in listing.tools
        if tool.name in definitions
    }
    python = source.file if source.is_python else None
    first = source.servers.get(target.name, 1)
    return LintInput(listing, Places(source.file, lines, first), python=python)


def _from_saved(target: SavedTarget, saved: Saved, verdicts: Verdicts | None) -> LintInput:
    text = parse_json(saved.path, saved.text).text
    places = places_in(saved.path, text, saved.steps)
    listing = make_listing(target.name, target.tools, verdicts=verdicts)
    return LintInput(listing, places, saved, verdicts=verdicts)


def _places_by_line(target: SavedTarget, text: str) -> Places:
    numbers = [number for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return Places(target.path, dict(enumerate(numbers)))


def _names(answer: Answer) -> list[str]:
    return [name for entry in answer.entries if (name := text_of(object_of(entry).get("name")))]


def _others(names: Mapping[str, list[str]], server: str) -> dict[str, str]:
    """Return the names of all tools of other servers, with the server of each."""
    return {tool: name for name, tools in names.items() if name != server for tool in tools}


def read_nearby(path: str, text: str) -> Mapping[str, str]:
    """Return the texts of a Python file and of nearby files that it imports, by path."""
    file = Path(path)
    folders = [file.parent, *[*file.resolve().parent.parents][:_MAX_PARENTS]]
    texts = {path: text}
    visited = {file.resolve()}
    queue = [(path, text)]
    while queue and len(texts) < _MAX_FILES:
        for near in _imported(*queue.pop(), folders):
            if near.resolve() in visited:
                continue
            visited.add(near.resolve())
            content = _text(near)
            if content is not None:
                texts[str(near)] = content
                queue.append((str(near), content))
    return texts


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
        if not file.is_file() or file.stat().st_size > _MAX_FILE_BYTES:
            return None
        text = file.read_text(encoding="utf-8")
        read_module(str(file), text)
    except (OSError, UnicodeDecodeError, ConfigError):
        return None
    return text
