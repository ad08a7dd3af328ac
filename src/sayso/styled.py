"""Styled text, tables and a line of progress for terminals.

The usual library, rich, brings Pygments along, and together they take 14 MB. sayso needs only bold
and coloured words, and tables whose long cells fold.
"""

import contextlib
import os
import shutil
import sys
import unicodedata
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Final, Self, TextIO

_CODES: Final = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_GAP: Final = "  "
_NARROWEST: Final = 4
_PIPE_WIDTH: Final = 160


def cell_width(text: str) -> int:
    """Return the number of terminal cells that a text takes.

    >>> cell_width("né"), cell_width("漢字")
    (2, 4)
    """
    return len(text) if text.isascii() else sum(map(_cells, text))


def set_cell_width(text: str, width: int) -> str:
    """Cut or pad a text to exactly `width` cells."""
    end = 0
    used = 0
    while end < len(text) and used + _cells(text[end]) <= width:
        used += _cells(text[end])
        end += 1
    return text[:end] + " " * (width - used)


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


@dataclass(init=False)
class Text:
    """A text in parts, each with a style such as `bold red`."""

    parts: list[tuple[str, str]]

    def __init__(self, text: str = "", style: str = "") -> None:
        self.parts = [(text, style)] if text else []

    @property
    def plain(self) -> str:
        return "".join(text for text, _ in self.parts)

    @property
    def width(self) -> int:
        return cell_width(self.plain)

    def append(self, more: "str | Text", style: str = "") -> Self:
        self.parts += more.parts if isinstance(more, Text) else [(more, style)]
        return self

    def cut(self, start: int, end: int) -> "Text":
        """Return the characters from `start` to `end`, with their styles."""
        found = Text()
        place = 0
        for text, style in self.parts:
            piece = text[max(start - place, 0) : max(end - place, 0)]
            place += len(text)
            if piece:
                found.append(piece, style)
        return found

    def fold(self, width: int) -> "list[Text]":
        """Return the lines of the text at a width: broken at blanks, or within long words."""
        lines: list[Text] = []
        start = 0
        for line in self.plain.split("\n"):
            lines += [self.cut(start + a, start + b) for a, b in _breaks(line, width)]
            start += len(line) + 1
        return lines

    def render(self, *, has_colour: bool) -> str:
        """Return the text for a terminal."""
        if not has_colour:
            return self.plain
        return "".join(_coloured(text, style) for text, style in self.parts)


def _coloured(text: str, style: str) -> str:
    codes = ";".join(_CODES[word] for word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


def _breaks(line: str, width: int) -> list[tuple[int, int]]:
    """Return the places of the pieces into which a line is broken."""
    found: list[tuple[int, int]] = []
    start = 0
    while cell_width(line[start:]) > width:
        end = start + max(len(set_cell_width(line[start:], width).rstrip()), 1)
        while end > start + 1 and cell_width(line[start:end]) > width:
            end -= 1
        if end < len(line) and line[end] != " ":
            blank = line.rfind(" ", start + 1, end)
            end = blank if blank > 0 else end
        found.append((start, end))
        start = end
        while start < len(line) and line[start] == " ":
            start += 1
    return [*found, (start, len(line))]


@dataclass
class Column:
    """A column of a table; the cells of all but fixed ones fold."""

    heading: str
    is_fixed: bool = False
    is_right: bool = False
    max_width: int | None = None


@dataclass
class Table:
    """A table without lines. Cells are texts, or strings."""

    headings: "Iterable[str | Column]" = ()
    has_header: bool = True
    columns: list[Column] = field(default_factory=list[Column])
    rows: list[list[Text]] = field(default_factory=list[list[Text]])

    def __post_init__(self) -> None:
        for heading in self.headings:
            self.add_column(heading)

    def add_column(self, heading: "str | Column") -> None:
        self.columns.append(heading if isinstance(heading, Column) else Column(heading))

    def add_row(self, *cells: "str | Text") -> None:
        while len(self.columns) < len(cells):
            self.add_column("")
        self.rows.append([Text(cell) if isinstance(cell, str) else cell for cell in cells])

    def lines(self, width: int) -> Generator[Text]:
        """Yield the lines of the table at a width."""
        widths = self._widths(width)
        if self.has_header:
            yield from self._row(
                [Text(one.heading, "dim") for one in self.columns], widths, is_head=True
            )
        for row in self.rows:
            yield from self._row(row, widths)

    def _row(
        self, cells: list[Text], widths: list[int], *, is_head: bool = False
    ) -> Generator[Text]:
        folded = [cell.fold(width) for cell, width in zip(cells, widths, strict=True)]
        height = max(map(len, folded))
        for cell in folded:
            missing = [Text()] * (height - len(cell))
            cell[:] = [*missing, *cell] if is_head else [*cell, *missing]
        for pieces in zip(*folded, strict=True):
            line = Text()
            last = len(pieces) - 1
            for index, (piece, column) in enumerate(zip(pieces, self.columns, strict=True)):
                pad = " " * (widths[index] - piece.width)
                if column.is_right:
                    line.append(pad)
                line.append(piece)
                if not column.is_right and index < last:
                    line.append(pad)
                if index < last:
                    line.append(_GAP)
            yield line

    def _widths(self, width: int) -> list[int]:
        widths = [
            max(
                max(map(cell_width, text.split("\n")), default=0)
                for text in (
                    column.heading if self.has_header else "",
                    *(row[index].plain for row in self.rows),
                )
            )
            for index, column in enumerate(self.columns)
        ]
        for index, column in enumerate(self.columns):
            widths[index] = min(widths[index], column.max_width or widths[index])
        room = width - len(_GAP) * (len(widths) - 1)
        while sum(widths) > room:
            open_ones = [
                index
                for index, column in enumerate(self.columns)
                if not column.is_fixed and widths[index] > _NARROWEST
            ]
            if not open_ones:
                break
            widths[max(open_ones, key=widths.__getitem__)] -= 1
        return widths


class Screen:
    """A terminal, or a file in its place, which gets no colours."""

    def __init__(
        self, file: TextIO, *, is_terminal: bool | None = None, width: int | None = None
    ) -> None:
        self.file = file
        self.is_terminal = file.isatty() if is_terminal is None else is_terminal
        self.has_colour = self.is_terminal and not (
            os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown")
        )
        self._width = width

    @property
    def width(self) -> int:
        if self._width is not None:
            return self._width
        return shutil.get_terminal_size().columns if self.is_terminal else _PIPE_WIDTH

    def print(self, shown: "str | Text | Table" = "", *, end: str = "\n") -> None:
        """Write a text or a table, and `end`."""
        if isinstance(shown, Table):
            for line in shown.lines(self.width):
                self.file.write(f"{line.render(has_colour=self.has_colour).rstrip()}\n")
        else:
            text = shown.render(has_colour=self.has_colour) if isinstance(shown, Text) else shown
            self.file.write(f"{text}{end}")
        self.file.flush()

    @contextlib.contextmanager
    def status(self, text: str) -> "Generator[Status]":
        """Show a line that can change, only on a terminal; it is removed at the end."""
        status = Status(self)
        status.update(text)
        try:
            yield status
        finally:
            status.clear()


@dataclass
class Status:
    """A line of progress at the bottom of a terminal."""

    screen: Screen
    text: str = ""

    def update(self, text: str) -> None:
        self.text = text
        if self.screen.is_terminal:
            line = set_cell_width(text, self.screen.width - 1).rstrip()
            self.screen.file.write(f"\r\x1b[2K{line}")
            self.screen.file.flush()

    def clear(self) -> None:
        """Remove the line; `update` shows it again."""
        if self.screen.is_terminal and self.text:
            self.screen.file.write("\r\x1b[2K")
            self.screen.file.flush()
        self.text = ""


def stdout() -> Screen:
    """Return the screen for results."""
    return Screen(sys.stdout)


def stderr() -> Screen:
    """Return the screen for messages."""
    return Screen(sys.stderr)
