"""A TOML document on its way to be loaded: its value, its lines, and what is wrong with it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from sayso.errors import ConfigError, MistakesError, PolicyError
from sayso.settings.shape import Shape
from sayso.settings.toml_positions import Path, find_lines

_INTEGER_BITS: Final = 64
_AT: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(slots=True)
class Document:
    """A TOML document with the lines of its keys, and what has been found wrong with it."""

    where: str
    text: str = field(repr=False)
    value: Mapping[str, Any]
    lines: Mapping[Path, int]
    kind: type[MistakesError] = PolicyError
    errors: list[tuple[int, ConfigError]] = field(default_factory=list[tuple[int, ConfigError]])
    bad: set[Path] = field(default_factory=set[Path])
    told: set[Path] = field(default_factory=set[Path])
    """What is itself wrong; `bad` has also all that it stands in."""

    def report(self, path: Path, what: str, fix: str | None = None, *, down: int = 0) -> None:
        """Note a mistake at `path`, or `down` lines below it."""
        line = self.line_of(path) + down
        self.errors.append((line, ConfigError(what, where=f"{self.where}:{line}", fix=fix)))
        self.told.add(path)
        self.bad.update(path[:length] for length in range(len(path) + 1))

    def line_of(self, path: Path) -> int:
        """The line of what stands at `path`; the first for the whole document."""
        return self.lines.get(path, 1)

    def opens_with_newline(self, path: Path) -> bool:
        """Whether the text at `path` begins on the line after its three quotes."""
        line = self.text.split("\n")[self.line_of(path) - 1].rstrip()
        return any(line.endswith(quotes) and line.count(quotes) % 2 for quotes in ('"""', "'''"))

    def is_sound(self, *path: str | int) -> bool:
        """Whether nothing has been found wrong at or below `path`."""
        return path not in self.bad

    def sound(self, value: Mapping[str, Any], *path: str | int) -> dict[str, Any]:
        """The table `value` at `path` without what is wrong in it, so that the rest is checked."""
        kept: dict[str, Any] = {}
        for key, item in value.items():
            if self.is_sound(*path, key):
                kept[key] = item
            elif isinstance(item, dict) and (*path, key) not in self.told:
                kept[key] = self.sound(cast("dict[str, Any]", item), *path, key)
        return kept

    def finish(self) -> None:
        """Raise an error of the document's kind with all that was found wrong, in its order."""
        if self.errors:
            self.errors.sort(key=lambda error: error[0])
            raise self.kind([error for _, error in self.errors])


def read_document(
    text: str, where: str, shape: Shape, kind: type[MistakesError] = PolicyError
) -> Document:
    """Read TOML of a known shape; raises an error of its kind only where it is no TOML at all."""
    text = text.removeprefix("\ufeff")
    try:
        value = tomllib.loads(text)
        if _has_long_integer(value):
            raise kind([_long_integer(where)])
        document = Document(where, text, value, find_lines(text), kind)
        shape.check(value, (), document.report)
    except tomllib.TOMLDecodeError as error:
        raise kind([_not_toml(str(error), text, where)]) from error
    except ValueError as error:
        # What is left is the interpreter's own limit on the digits of an integer.
        raise kind([_long_integer(where)]) from error
    except RecursionError as error:
        raise kind([ConfigError("this is nested too deeply", where=where)]) from error
    return document


def _has_long_integer(value: Mapping[str, Any]) -> bool:
    left: list[Any] = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            left.extend(cast("dict[str, Any]", item).values())
        elif isinstance(item, list):
            left.extend(cast("list[Any]", item))
        elif isinstance(item, int) and item.bit_length() >= _INTEGER_BITS:
            return True
    return False


def _long_integer(where: str) -> ConfigError:
    return ConfigError("an integer here is too large for TOML: it has 64 bits", where=where)


def _not_toml(message: str, text: str, where: str) -> ConfigError:
    said = _AT.sub("", message)
    what = f"this is not TOML: {said[0].lower()}{said[1:]}"
    place = _AT.search(message)
    if place is None or place[1] is None:
        last = text.count("\n") + 1
        return ConfigError(what, where=f"{where}:{last}")
    line = int(place[1])
    column = int(place[2])
    after = text.split("\n")[line - 1][column - 1 :]
    fix = None
    if said == "Invalid value" and after[:1].isalpha():
        fix = "A text stands in quotes."
    return ConfigError(what, where=f"{where}:{line}:{column}", fix=fix)
