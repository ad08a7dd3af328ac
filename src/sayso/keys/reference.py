"""References to secrets: a configuration names the place of a secret instead of the secret."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.errors import KeysError

FORM: Final = "env:NAME or file:PATH"
_MAX_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Reference:
    """The place of a secret, which is read at each use, so that you can rotate the secret."""

    kind: str
    place: str

    def read(self) -> str:
        """Return the secret, without the line break at its end.

        Raises `KeysError`, whose message names the place but not the content.
        """
        text = os.environ.get(self.place) if self.kind == "env" else self._text()
        if text is None:
            fix = "Set the variable before you start sayso."
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
            # Drop the cause: it contains the bytes.
            raise KeysError("a secret must be text", where=self.place) from None


def find_reference(text: str, folder: Path) -> Reference | None:
    """Parse a reference; return `None` if `text` is not one. Paths are relative to `folder`.

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
