"""A TOML document that is being checked: its value, its lines and its mistakes."""

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
    """A TOML document with the lines of its keys, and its mistakes so far."""

    where: str
    text: str = field(repr=False)
    value: Mapping[str, Any]
    lines: Mapping[Path, int]
    kind: type[MistakesError] = PolicyError
    errors: list[tuple[int, ConfigError]] = field(default_factory=list[tuple[int, ConfigError]])
    bad: set[Path] = field(default_factory=set[Path])
    reported: set[Path] = field(default_factory=set[Path])
    """The paths of mistakes; `bad` contains their parents too."""

    def report(self, path: Path, what: str, fix: str | None = None, *, down: int = 0) -> None:
        """Note a mistake at `path`, or `down` lines below it."""
        line = self.line_of(path) + down
        self.errors.append((line, ConfigError(what, where=f"{self.where}:{line}", fix=fix)))
        self.reported.add(path)
        self.bad.update(path[:length] for length in range(len(path) + 1))

    def line_of(self, path: Path) -> int:
        """Return the line of `path`, or 1 if the path has no line of its own."""
        return self.lines.get(path, 1)

    def opens_with_newline(self, path: Path) -> bool:
        """Return whether the text at `path` begins on the line after its triple quotes."""
        line = self.text.split("\n")[self.line_of(path) - 1].rstrip()
        return any(line.endswith(quotes) and line.count(quotes) % 2 for quotes in ('"""', "'''"))

    def is_sound(self, *path: str | int) -> bool:
        """Return whether there is no mistake at or below `path`."""
        return path not in self.bad

    def sound(self, value: Mapping[str, Any], *path: str | int) -> dict[str, Any]:
        """Return the table `value` at `path` without invalid parts, to check the rest of it."""
        table: dict[str, Any] = {}
        for key, item in value.items():
            if self.is_sound(*path, key):
                table[key] = item
            elif isinstance(item, dict) and (*path, key) not in self.reported:
                table[key] = self.sound(cast("dict[str, Any]", item), *path, key)
        return table

    def finish(self) -> None:
        """Raise an error of type `kind` with all mistakes by line, if there are any."""
        if self.errors:
            self.errors.sort(key=lambda error: error[0])
            raise self.kind([error for _, error in self.errors])


def read_document(
    text: str, where: str, shape: Shape, kind: type[MistakesError] = PolicyError
) -> Document:
    """Parse and check TOML. Raises `kind` for invalid TOML; other mistakes are collected."""
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
        # Python limits the digits of an integer.
        raise kind([_long_integer(where)]) from error
    except RecursionError as error:
        raise kind([ConfigError("this is nested too deeply", where=where)]) from error
    return document


def _has_long_integer(value: Mapping[str, Any]) -> bool:
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(cast("dict[str, Any]", item).values())
        elif isinstance(item, list):
            waiting.extend(cast("list[Any]", item))
        elif isinstance(item, int) and item.bit_length() >= _INTEGER_BITS:
            return True
    return False


def _long_integer(where: str) -> ConfigError:
    return ConfigError("an integer here is too large for TOML: it has 64 bits", where=where)


def _not_toml(message: str, text: str, where: str) -> ConfigError:
    reason = _AT.sub("", message)
    what = f"this is not TOML: {reason[0].lower()}{reason[1:]}"
    place = _AT.search(message)
    if place is None or place[1] is None:
        last = text.count("\n") + 1
        return ConfigError(what, where=f"{where}:{last}")
    line = int(place[1])
    column = int(place[2])
    after = text.split("\n")[line - 1][column - 1 :]
    fix = None
    if reason == "Invalid value" and after[:1].isalpha():
        fix = "Put texts in quotes."
    return ConfigError(what, where=f"{where}:{line}:{column}", fix=fix)
