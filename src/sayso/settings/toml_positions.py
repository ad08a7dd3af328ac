"""Lines of keys in a TOML text, by their path.

Python's `tomllib` reports no positions. The text was parsed before, so it is valid, and this module
only looks for the boundaries of keys and values.
"""

import re
from dataclasses import dataclass, field
from typing import Final

Step = str | int
"""A key of a table or an index of an array."""

Path = tuple[Step, ...]

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING: Final = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}|' + r"'''(?:[^']|'(?!''))*'{3,5}|"
    r'"(?:[^"\\]|\\.)*"|' + r"'[^']*'",
    re.DOTALL,
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR: Final = re.compile(r"[^,\]}#\r\n]+")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_ESCAPED: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}


def find_lines(text: str) -> dict[Path, int]:
    r"""Return the line, counted from 1, of every key and array item in a valid TOML `text`.

    >>> find_lines("[a]\nb = [1,\n 2]")[("a", "b", 1)]
    3
    """
    walk = _Walk(text)
    walk.document()
    return walk.lines


@dataclass(slots=True)
class _Walk:
    text: str
    at: int = 0
    lines: dict[Path, int] = field(default_factory=dict[Path, int])
    _counts: dict[Path, int] = field(default_factory=dict[Path, int])
    _line: int = 1
    _counted: int = 0

    def document(self) -> None:
        table: Path = ()
        self._skip()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip()

    def _header(self) -> Path:
        """Parse `[a.b]` or `[[a.b]]`, and return the path of the table that it opens."""
        line = self._line_here()
        is_array = self.text.startswith("[[", self.at)
        brackets = 1 + is_array
        self.at += brackets
        path = self._keys((), line, is_header=True)
        self.at += brackets
        if is_array:
            index = self._counts.get(path, 0)
            self._counts[path] = index + 1
            path = (*path, index)
            self.lines[path] = line
        return path

    def _pair(self, table: Path) -> None:
        path = self._keys(table, self._line_here(), is_header=False)
        self.at += 1  # the sign "="
        self._skip()
        self._value(path)

    def _keys(self, table: Path, line: int, *, is_header: bool) -> Path:
        """Parse a dotted key below `table`; in a header, array paths end at their last item."""
        path = table
        while True:
            self._skip()
            path = (*path, self._key())
            self.lines.setdefault(path, line)
            self._skip()
            if self.text[self.at] != ".":
                return path
            self.at += 1
            if is_header and path in self._counts:
                path = (*path, self._counts[path] - 1)

    def _key(self) -> str:
        key = self._match(_STRING, _BARE)
        if key[0] == '"':
            return _ESCAPE.sub(_unescape, key[1:-1])
        return key.strip("'")

    def _value(self, path: Path) -> None:
        opening = self.text[self.at]
        if opening == "[":
            self._items(path)
        elif opening == "{":
            self._inline(path)
        else:
            self._match(_STRING, _SCALAR)

    def _items(self, path: Path) -> None:
        self.at += 1
        index = 0
        while self._next() != "]":
            self.lines[(*path, index)] = self._line_here()
            self._value((*path, index))
            index += 1
            if self._next() == ",":
                self.at += 1
        self.at += 1

    def _inline(self, path: Path) -> None:
        self.at += 1
        while self._next() != "}":
            self._pair(path)
            if self._next() == ",":
                self.at += 1
        self.at += 1

    def _next(self) -> str:
        self._skip()
        return self.text[self.at]

    def _skip(self) -> None:
        self._match(_BLANK)

    def _match(self, *patterns: re.Pattern[str]) -> str:
        for pattern in patterns:
            if found := pattern.match(self.text, self.at):
                self.at = found.end()
                return found[0]
        raise AssertionError(self.at)  # pragma: no cover - tomllib has read the text before

    def _line_here(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line


def _unescape(match: re.Match[str]) -> str:
    short, long, sign = match.groups()
    if sign is not None:
        return _ESCAPED.get(sign, sign)
    return chr(int(short or long, 16))
