"""Files that a command writes at its end, checked before it runs."""

import tempfile
from pathlib import Path

from sayso.errors import UsageError


def check_writable(file: Path, option: str) -> None:
    """Make a file's folder, and check that the file can be written. Raises `UsageError`."""
    try:
        if file.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            with file.open("ab"):
                return
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".sayso-"):
            return
    except OSError as error:
        what = f"{option} {file} cannot be written: {error.strerror}"
        raise UsageError(what, fix="Name a file in a folder that you may write to.") from error


def write_text(file: Path, text: str) -> None:
    """Write a text as it is. Raises `UsageError` if the file cannot be written."""
    try:
        file.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        what = f"the file cannot be written: {error.strerror}"
        fix = "Check its folder and who may write there."
        raise UsageError(what, where=str(file), fix=fix) from error
