"""A store of files' contents in one private file, for the effects that need them."""

import hashlib
import os
import stat
import weakref
from pathlib import Path
from typing import Final

from sayso.trace import Blob

FILE_BYTES: Final = 16 * 1024 * 1024
"""The maximum size of a stored file. Of a larger file only the digest is stored."""
TOTAL_BYTES: Final = 1024 * 1024 * 1024
HASHED_BYTES: Final = 256 * 1024 * 1024
"""The maximum size of a file to read. A larger file may be sparse."""
LOOK_BYTES: Final = 2 * 1024 * 1024 * 1024
"""The maximum number of bytes that one look at all files reads."""
CHUNK: Final = 1024 * 1024

UNREAD: Final = ""
"""The digest of an unreadable file."""


class ContentStore:
    """Contents by digest, each stored once. `notes` has the reason for each file not stored.

    Several runs on copies of the same fixtures may share a store. `folder` must be private.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._spans: dict[str, tuple[int, int]] = {}
        self._end = 0
        self._hashed = 0
        self.notes: dict[str, str] = {}
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._pack = os.open(folder / "pack", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        # The file is closed at the latest when the store is garbage-collected.
        self.close = weakref.finalize(self, os.close, self._pack)

    def begin(self) -> None:
        """Begin a look at the files; it may read at most `LOOK_BYTES`."""
        self._hashed = 0

    def add(self, path: str) -> str:
        """Read and store a regular file; return its digest, or `UNREAD`."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                return self._add(path, descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            self.notes[path] = f"cannot be read: {error.strerror}"
            return UNREAD

    def _add(self, path: str, descriptor: int) -> str:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return UNREAD
        self._hashed += status.st_size
        if status.st_size > HASHED_BYTES or self._hashed > LOOK_BYTES:
            self.notes[path] = "too large to be read"
            return UNREAD
        if status.st_size > FILE_BYTES:
            self.notes[path] = "too large: only its digest is stored"
            return _digest(descriptor)
        return self._keep(path, _read(descriptor, FILE_BYTES))

    def _keep(self, path: str, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        if digest in self._spans:
            return digest
        if self._end + len(content) > TOTAL_BYTES:
            self.notes[path] = "not stored: the store is full"
            return digest
        written = 0
        while written < len(content):
            written += os.pwrite(self._pack, content[written:], self._end + written)
        self._spans[digest] = (self._end, len(content))
        self._end += len(content)
        return digest

    def read(self, digest: str) -> bytes | None:
        """Return a stored content, or `None`."""
        if digest not in self._spans:
            return None
        start, size = self._spans[digest]
        return os.pread(self._pack, size, start)

    def blob(self, digest: str, size: int) -> Blob | None:
        """Return a content as a `Blob`, with a file if it was stored, or `None` if unread."""
        if digest == UNREAD:
            return None
        content = self.read(digest)
        if content is None:
            return Blob(digest, size)
        path = self._folder / digest
        if not path.exists():
            path.touch(mode=0o600)
            path.write_bytes(content)
        return Blob(digest, size, path)


def _read(descriptor: int, limit: int) -> bytes:
    content = bytearray()
    while len(content) < limit:
        chunk = os.read(descriptor, min(CHUNK, limit - len(content)))
        if not chunk:
            break
        content += chunk
    return bytes(content)


def _digest(descriptor: int) -> str:
    hashed = hashlib.sha256()
    read = 0
    while read < HASHED_BYTES and (chunk := os.read(descriptor, CHUNK)):
        hashed.update(chunk)
        read += len(chunk)
    return hashed.hexdigest()
