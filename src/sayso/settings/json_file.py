"""A JSON file with comments: its value, and the position of each part."""

import errno
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any, Final, NoReturn, cast

from sayso.errors import ConfigError
from sayso.settings.json_positions import Position, Step, locate, position_at

LARGEST: Final = 10_000_000
"""Bytes; configurations and tool lists are far smaller."""

_TYPE_NAMES: Final[Mapping[type, str]] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    NoneType: "null",
}
_GIVEN_STREAMS: Final = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""The paths of pipes that a shell passes to a command, such as `<(…)`."""
_WANTED: Final = "Name a client's configuration or a saved tools/list."
# Patterns match in linear time, because a project's file is untrusted. So an unterminated string
# extends to the end of its line, and an unterminated comment to the end of the text.
_STRING: Final = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?+'
_COMMENT: Final = re.compile(rf"{_STRING}|(?P<blank>//[^\n]*|/\*.*?\*/)|/\*.*", re.DOTALL)
_OTHER_BREAK: Final = re.compile(r"\r(?!\n|\Z)|[\u2028\u2029]")
"""Line breaks that end a comment only for some JSON parsers."""
_TRAILING_COMMA: Final = re.compile(rf"{_STRING}|(?P<blank>,)(?=\s*[}}\]])")
_NO_NUMBER: Final = re.compile(rf"{_STRING}|(?P<token>NaN|-?Infinity|(?<!\d)-?\d{{1000,}}+)")


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A parsed JSON file. `path` is as it was typed, and `text` has blanks instead of comments."""

    path: str
    text: str = field(repr=False)
    value: Any = field(repr=False)
    first_line: int = 1

    def where(self, *steps: Step, of_key: bool = False) -> str:
        """Return `file:line:column` of the value at `steps`, or of its key."""
        return _place(self.path, locate(self.text, steps, of_key=of_key), self.first_line)


def read_json(path: str) -> JsonFile:
    """Read a UTF-8 file, with or without a byte order mark, and ignore its comments.

    Trailing commas are accepted only in VS Code's format and in `.jsonc` files. Raises
    `ConfigError` with the line and column of the first mistake.
    """
    return parse_json(path, read_text(path))


def parse_json(path: str, written: str) -> JsonFile:
    """Parse `written`, the text of the file `path`; see `read_json` for its format and errors."""
    _check_comments(path, written)
    text = _blank_out(_COMMENT, written)
    if not text.strip():
        raise ConfigError("the file is empty", where=path, fix=_WANTED)
    try:
        return _decode(path, text)
    except json.JSONDecodeError as error:
        return _without_trailing_commas(path, text, error)


def read_json_lines(path: str) -> Iterator[JsonFile]:
    """Read a file with one JSON value per line, and skip blank lines."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield _decode(path, line, number)
        except json.JSONDecodeError as error:
            raise _not_json(path, line, error, number) from error


def read_text(path: str, *, fix: str = _WANTED) -> str:
    """Return the text of a file; `fix` is the advice for a file that is too large.

    Raises `ConfigError` if the file is too large, unreadable, not UTF-8, or not a regular file.
    FIFOs and devices are rejected without reading, except `/dev/stdin` and `/dev/fd`.
    """
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        what = f"the file cannot be read: {error.strerror}"
        raise ConfigError(what, where=path, fix="Check its name and permissions.") from error
    if len(data) > LARGEST:
        raise ConfigError(f"the file is larger than {LARGEST // 1_000_000} MB", where=path, fix=fix)
    return text_of(path, data)


def _open_at_once(path: str, flags: int) -> int:
    """Open a regular file. Raises `OSError` for other files: reading might never end."""
    if path.startswith(_GIVEN_STREAMS):
        return os.open(path, flags)
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "this is not a regular file", path)
    return descriptor


def text_of(path: str, data: bytes) -> str:
    """Decode a file's UTF-8, without a byte order mark. Raises `ConfigError` if it is invalid."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The offset does not count the byte order mark; all bytes before it are valid.
        before = error.object[: error.start].decode()
        place = _place(path, position_at(before, len(before)))
        what = f"the byte 0x{error.object[error.start]:02x} is not UTF-8"
        raise ConfigError(what, where=place, fix="Save the file as UTF-8.") from error


def fault_of_file(path: str) -> str | None:
    """Return why `path` is not a regular file, or `None` if it is one."""
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "there is no such file"
    except OSError as error:
        return f"the file cannot be reached: {error.strerror}"
    if not stat.S_ISREG(mode):
        return "this is not a file"
    return None


def type_name(value: object) -> str:
    """Return the JSON name of the type of `value`, with its article."""
    return _TYPE_NAMES.get(type(value), "a number")


def _place(path: str, position: Position, first_line: int = 1) -> str:
    return f"{path}:{position.line + first_line - 1}:{position.column}"


def _check_comments(path: str, written: str) -> None:
    """Raise `ConfigError` for a comment that ends earlier for some parsers than for others."""
    if _OTHER_BREAK.search(written) is None:
        return
    for found in _COMMENT.finditer(written):
        if found["blank"] is None or not found["blank"].startswith("//"):
            continue
        if other := _OTHER_BREAK.search(written, found.start(), found.end()):
            place = _place(path, position_at(written, other.start()))
            sign = f"\\u{ord(other[0]):04x}"
            what = f"parsers disagree whether the comment ends at {sign}"
            raise ConfigError(what, where=place, fix="Replace it by a line feed.")


def _blank_out(pattern: re.Pattern[str], text: str) -> str:
    """Replace the group `blank` of `pattern` by blanks, keeping all offsets."""

    def blanks(match: re.Match[str]) -> str:
        if match["blank"] is None:
            return match[0]
        return re.sub(r"[^\n]", " ", match["blank"])

    return pattern.sub(blanks, text)


@dataclass(slots=True)
class _Twice:
    """A placeholder for an object with a duplicate `key`."""

    key: str


def _decode(path: str, text: str, first_line: int = 1) -> JsonFile:
    has_twice = False

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Twice:
        nonlocal has_twice
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        has_twice = True
        keys = [key for key, _ in pairs]
        return _Twice(next(key for key in members if keys.count(key) > 1))

    try:
        value = json.loads(text, object_pairs_hook=build, parse_constant=_refuse)
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise ConfigError("the JSON is nested too deeply", where=path) from error
    except ValueError as error:
        token = next(match for match in _NO_NUMBER.finditer(text) if match["token"])
        place = _place(path, position_at(text, token.start()), first_line)
        what = f"{token['token'][:12]} is not a number that JSON can hold"
        raise ConfigError(what, where=place, fix="Write it as a string.") from error
    file = JsonFile(path, text, value, first_line)
    if has_twice:
        raise _stands_twice(file)
    return file


def _refuse(constant: str) -> NoReturn:
    """Reject NaN and infinities, which Python accepts and JSON forbids."""
    raise ValueError(constant)


def _without_trailing_commas(path: str, text: str, error: json.JSONDecodeError) -> JsonFile:
    """Parse again without trailing commas; raise if commas are not allowed or not the problem."""
    try:
        file = _decode(path, _blank_out(_TRAILING_COMMA, text))
    except json.JSONDecodeError:
        raise _not_json(path, text, error) from error
    value: object = file.value
    is_vs_code = isinstance(value, dict) and "servers" in value
    if is_vs_code or path.lower().endswith(".jsonc"):
        return file
    comma = next(match.start() for match in _TRAILING_COMMA.finditer(text) if match["blank"])
    place = _place(path, position_at(text, comma))
    what = "the file is not JSON: trailing comma before a closing bracket"
    raise ConfigError(what, where=place, fix="Remove the comma.") from error


def _not_json(
    path: str, text: str, error: json.JSONDecodeError, first_line: int = 1
) -> ConfigError:
    place = _place(path, position_at(text, error.pos), first_line)
    what = f"the file is not JSON: {error.msg[0].lower()}{error.msg[1:]}"
    return ConfigError(what, where=place, fix="Fix the file.")


def _stands_twice(file: JsonFile) -> ConfigError:
    """Return the error for the first object with a duplicate key, outermost first."""
    todo: list[tuple[object, tuple[Step, ...]]] = [(file.value, ())]
    for item, steps in todo:  # grows while it is walked
        if isinstance(item, _Twice):
            break
        members: list[tuple[Step, object]] = []
        if isinstance(item, dict):
            members.extend(cast("dict[str, object]", item).items())
        elif isinstance(item, list):
            members.extend(enumerate(cast("list[object]", item)))
        todo.extend((inner, (*steps, step)) for step, inner in members)
    else:  # pragma: no cover - called only for a file that holds one
        raise AssertionError
    what = f"duplicate key “{item.key}”"
    place = file.where(*steps, item.key, of_key=True)
    return ConfigError(what, where=place, fix="Keep one of the two.")
