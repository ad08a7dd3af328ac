"""A reader of the new lines of a growing file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

_CHUNK: Final = 1 << 20
_LONGEST: Final = 1 << 20
"""The maximum length of a line in bytes; longer lines are skipped."""


class Tail:
    """Reads new whole lines of a file, with at most one chunk and one line in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""
        self._is_skipping = False

    def size(self) -> int:
        """Return the current size in bytes; 0 if the file does not exist."""
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    def lines(self) -> Iterator[str]:
        """Yield the whole lines added since the last call, up to the file's present end."""
        end = self.size()
        while self._offset < end:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                chunk = file.read(min(_CHUNK, end - self._offset))
            if not chunk:
                return
            self._offset += len(chunk)
            yield from self._split(chunk)

    def _split(self, chunk: bytes) -> Iterator[str]:
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        for line in whole:
            if self._is_skipping:
                self._is_skipping = False
            else:
                yield line.decode("latin-1")
        if len(self._rest) > _LONGEST:
            self._rest = b""
            self._is_skipping = True
