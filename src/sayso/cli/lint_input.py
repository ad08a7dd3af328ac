"""What `sayso lint` looks at: the tools of each target, and where they stand in which file."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sayso.cli.imports import read_nearby
from sayso.cli.receipts import Verdicts, Vouched
from sayso.cli.surface import Answer, read_answers
from sayso.connect import SavedTarget, Target, lines_of_servers, read_saved, steps_to_tools
from sayso.errors import SaysoError
from sayso.lint import (
    Definition,
    Handler,
    Listing,
    Places,
    as_object,
    as_text,
    handlers_in,
    make_listing,
    places_in,
    read_definitions,
)
from sayso.settings import parse_json, read_json, read_text

_PYTHON = re.compile(r"(?P<path>.+\.py)(?::.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Saved:
    """The text of a saved list, and the keys that lead to its tools."""

    path: str
    text: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """The file that a target was named by, the tools defined in it, and what these do.

    `servers` are the lines of those that a configuration names.
    """

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
    """The file that a command line names: a Python file, a configuration; none for a URL."""
    if len(words) != 1:
        return None
    if match := _PYTHON.fullmatch(words[0]):
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
    """A server's file, with what the handlers in it and around it do, where it is Python."""
    text = read_text(path)
    definitions = read_definitions(text)
    with contextlib.suppress(SaysoError):  # what is wrong with it is told when it is started
        return Source(path, definitions, handlers_in(read_nearby(path, text)), is_python=True)
    return Source(path, definitions, is_python=True)


async def read_linted(
    targets: Sequence[Target],
    source: Source | None,
    timeout: float,
    vouched: Vouched | None = None,
) -> list[Linted | SaysoError]:
    """The tools of all targets; an error in the place of one that could not be asked."""
    answers = await read_answers(targets, timeout)
    names = {
        target.name: _names(answer)
        for target, answer in zip(targets, answers, strict=True)
        if isinstance(answer, Answer)
    }
    return [
        answer
        if isinstance(answer, SaysoError)
        else _linted(
            target,
            answer,
            source,
            others=_others(names, target.name),
            verdicts=vouched.verdicts(target, answer.entries) if vouched else None,
        )
        for target, answer in zip(targets, answers, strict=True)
    ]


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
    definitions: Mapping[str, Definition] = source.definitions if source else {}
    handlers = source.handlers if source else None
    listing = make_listing(
        target.name,
        answer.entries,
        definitions=definitions,
        handlers=handlers,
        verdicts=verdicts,
        others=others,
    )
    lines = {
        tool.index: definitions[tool.name].line
        for tool in listing.tools
        if tool.name in definitions
    }
    python = source.file if source and source.is_python else None
    if source is None:
        return Linted(listing, Places())
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
    return [name for entry in answer.entries if (name := as_text(as_object(entry).get("name")))]


def _others(names: Mapping[str, list[str]], server: str) -> dict[str, str]:
    """The tools of the servers beside one, each with its server's name."""
    return {tool: name for name, tools in names.items() if name != server for tool in tools}
