"""Output files of a command, checked before it runs."""

import tempfile
from pathlib import Path

from sayso.errors import UsageError


def check_writable(file: Path, option: str) -> None:
    """Create a file's folder, and check that the file is writable. Raises `UsageError`."""
    try:
        if file.is_dir():
            raise IsADirectoryError(0, "is a folder")
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            with file.open("ab"):
                return
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".sayso-"):
            return
    except OSError as error:
        what = f"{option} {file} cannot be written: {error.strerror}"
        raise UsageError(what, fix="Choose a file in a writable folder.") from error


def write_text(file: Path, text: str) -> None:
    """Write a text unchanged. Raises `UsageError` if the file cannot be written."""
    try:
        file.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        what = f"the file cannot be written: {error.strerror}"
        raise UsageError(what, where=str(file), fix="Check its permissions.") from error
