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
    offset: int = 0
    lines: dict[Path, int] = field(default_factory=dict[Path, int])
    _counts: dict[Path, int] = field(default_factory=dict[Path, int])
    _line: int = 1
    _counted: int = 0

    def document(self) -> None:
        table: Path = ()
        self._skip()
        while self.offset < len(self.text):
            if self.text[self.offset] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip()

    def _header(self) -> Path:
        """Parse `[a.b]` or `[[a.b]]`, and return the path of the table that it opens."""
        line = self._line_here()
        is_array = self.text.startswith("[[", self.offset)
        brackets = 1 + is_array
        self.offset += brackets
        path = self._keys((), line, is_header=True)
        self.offset += brackets
        if is_array:
            index = self._counts.get(path, 0)
            self._counts[path] = index + 1
            path = (*path, index)
            self.lines[path] = line
        return path

    def _pair(self, table: Path) -> None:
        path = self._keys(table, self._line_here(), is_header=False)
        self.offset += 1  # the sign "="
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
            if self.text[self.offset] != ".":
                return path
            self.offset += 1
            if is_header and path in self._counts:
                path = (*path, self._counts[path] - 1)

    def _key(self) -> str:
        key = self._match(_STRING, _BARE)
        if key[0] == '"':
            return _ESCAPE.sub(_unescape, key[1:-1])
        return key.strip("'")

    def _value(self, path: Path) -> None:
        opening = self.text[self.offset]
        if opening == "[":
            self._items(path)
        elif opening == "{":
            self._inline(path)
        else:
            self._match(_STRING, _SCALAR)

    def _items(self, path: Path) -> None:
        self.offset += 1
        index = 0
        while self._next() != "]":
            self.lines[(*path, index)] = self._line_here()
            self._value((*path, index))
            index += 1
            if self._next() == ",":
                self.offset += 1
        self.offset += 1

    def _inline(self, path: Path) -> None:
        self.offset += 1
        while self._next() != "}":
            self._pair(path)
            if self._next() == ",":
                self.offset += 1
        self.offset += 1

    def _next(self) -> str:
        self._skip()
        return self.text[self.offset]

    def _skip(self) -> None:
        self._match(_BLANK)

    def _match(self, *patterns: re.Pattern[str]) -> str:
        for pattern in patterns:
            if found := pattern.match(self.text, self.offset):
                self.offset = found.end()
                return found[0]
        raise AssertionError(self.offset)  # pragma: no cover - tomllib has read the text before

    def _line_here(self) -> int:
        self._line += self.text.count("\n", self._counted, self.offset)
        self._counted = self.offset
        return self._line


def _unescape(match: re.Match[str]) -> str:
    short, long, sign = match.groups()
    if sign is not None:
        return _ESCAPED.get(sign, sign)
    return chr(int(short or long, 16))
