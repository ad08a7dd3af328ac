"""Secrets by reference: a configuration names where a secret is, and never holds it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.errors import KeysError

FORM: Final = "env:NAME or file:PATH"
_MAX_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Reference:
    """The place of a secret. It is read each time, so that a file may be rotated."""

    kind: str
    place: str

    def read(self) -> str:
        """Return the secret, without the line break that a file ends with.

        Raises `KeysError`, which names the place and never its content.
        """
        text = os.environ.get(self.place) if self.kind == "env" else self._text()
        if text is None:
            fix = "Set it before you start sayso."
            raise KeysError("the environment variable is not set", where=self.place, fix=fix)
        secret = text.rstrip("\r\n")
        if not secret or not secret.isprintable():
            raise KeysError("a secret must be one line of text", where=self.place)
        return secret

    def _text(self) -> str:
        try:
            with Path(self.place).open("rb") as file:
                return file.read(_MAX_BYTES).decode()
        except OSError as error:
            what = f"cannot read the secret: {error.strerror}"
            raise KeysError(what, where=self.place) from error
        except UnicodeDecodeError:
            # Without the cause: it holds the bytes.
            raise KeysError("a secret must be text", where=self.place) from None


def find_reference(text: str, folder: Path) -> Reference | None:
    """Return the reference in `text`, `None` if it has none; paths are relative to `folder`.

    >>> find_reference("env:CRM_SECRET", Path())
    Reference(kind='env', place='CRM_SECRET')
    >>> find_reference("hunter2", Path())
    """
    kind, _, place = text.partition(":")
    if not place or "\0" in place:
        return None
    if kind == "env":
        return Reference("env", place)
    if kind == "file":
        return Reference("file", str(folder / Path(place).expanduser()))
    return None
