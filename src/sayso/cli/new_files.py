"""Files that a command writes, and that replace others only after a question."""

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.cli.output_files import check_writable
from sayso.cli.terminal import ask_first, out
from sayso.clients import read, replace
from sayso.errors import ConfigError
from sayso.schema import plain_code

_MOST_LINES: Final = 400
"""The lines of a difference that are shown."""
_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to write, with its text."""

    path: Path
    text: str


def write_files(files: Sequence[NewFile], *, is_sure: bool, is_quiet: bool = False) -> None:
    """Write the files in order. Show how existing files would change, and ask first.

    With `is_sure` it does not ask. Raises `DeniedError` if the answer is no, `UsageError` without a
    terminal, and `ConfigError` if a file has changed meanwhile; the files not yet written stay.
    """
    for file in files:
        check_writable(file.path, "--output")
    before = {file.path: read(file.path, is_strict=False) for file in files if file.path.exists()}
    changed = [
        file for file in files if before.get(file.path, file.text.encode()) != file.text.encode()
    ]
    if changed and not is_sure:
        if not is_quiet:
            for file in changed:
                _show_difference(file, before[file.path])
        ask_first(f"Overwrite {' and '.join(str(file.path) for file in changed)}?")
    for file in files:
        if file.path not in before:
            _create(file)
        elif file in changed:
            replace(file.path, before[file.path], file.text.encode(), is_strict=False)


def _show_difference(file: NewFile, before: bytes) -> None:
    from sayso.styled import Text

    old = before.decode(errors="replace").splitlines()
    new = file.text.splitlines()
    lines = list(difflib.unified_diff(old, new, str(file.path), str(file.path), n=3, lineterm=""))
    for line in lines[:_MOST_LINES]:
        out().print(Text(plain_code(line), _COLOURS.get(line[:1], "")))
    if len(lines) > _MOST_LINES:
        out().print(f"… and {len(lines) - _MOST_LINES:,} more lines")


def _create(file: NewFile) -> None:
    """Create a private file, which must not exist. A crash leaves at most a file of sayso's own."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(file.path, flags, 0o600), "wb") as new:
            new.write(file.text.encode())
            new.flush()
            os.fsync(new.fileno())
    except OSError as error:
        what = f"the file cannot be written: {error.strerror}"
        raise ConfigError(what, where=str(file.path), fix="Check its name and folder.") from error
