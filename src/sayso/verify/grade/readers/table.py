"""Readers of text tables: comma-separated values, and settings by section and name."""

import configparser
import csv
import io
import tomllib
from typing import Any, Final, cast

from sayso.trace import Loss
from sayso.verify.grade.readers.content import SAME, Outcome, compare_rows
from sayso.verify.grade.readers.text import decoded

Row = tuple[str, ...]
HALF: Final = 2


class CsvReader:
    """Compares rows of cells. Differences in quoting have no meaning."""

    name = "csv"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        return compare_rows(_rows(before), _rows(after), is_alike=is_alike, word="rows")


class IniReader:
    """Compares values by section and name. Comments are ignored."""

    name = "ini"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        return compare_keyed(_settings(before), _settings(after), is_same=before == after)


class TomlReader:
    """Compares values by their dotted names."""

    name = "toml"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        old, new = (_flat(tomllib.loads(decoded(content))) for content in (before, after))
        return compare_keyed(old, new, is_same=before == after)


def is_alike(old: Row, new: Row) -> bool:
    """Return whether two rows share their first cell, or at least half of their cells."""
    if old[0] == new[0]:
        return True
    same = sum(before == other for before, other in zip(old, new, strict=False))
    return same * HALF >= len(old)


def compare_keyed(old: dict[str, Any], new: dict[str, Any], *, is_same: bool) -> Outcome:
    """Compare values by key. A missing key is lost; a different value is overwritten."""
    if is_same:
        return SAME
    gone = [key for key in old if key not in new]
    if gone:
        return Outcome(Loss.LOST, f"{len(gone)} lost, such as {gone[0][:80]}")
    changed = [key for key, value in old.items() if value != new[key]]
    if changed:
        return Outcome(Loss.OVERWROTE, f"{len(changed)} changed, such as {changed[0][:80]}")
    return Outcome()


def _rows(content: bytes) -> list[Row]:
    text = decoded(content)
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    try:
        return [tuple(row) for row in csv.reader(io.StringIO(text), delimiter=mark) if any(row)]
    except csv.Error as error:
        raise ValueError(str(error)) from error


def _settings(content: bytes) -> dict[str, Any]:
    parser = configparser.RawConfigParser(allow_no_value=True, strict=False)
    try:
        parser.read_string(decoded(content))
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    return {
        f"{section}.{name}": value
        for section in parser.sections()
        for name, value in parser[section].items()
    }


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {path.removeprefix("."): value}
    found: dict[str, Any] = {}
    for key, inner in cast("dict[str, Any]", value).items():
        found |= _flat(inner, f"{path}.{key}")
    return found
