"""What sayso has done to clients' files, and how to undo it.

One folder for each object of servers, for this user alone:

    record.json       what was moved, as it was written, and digests of the file
    original-DIGEST   the bytes of the file before it was changed
    servers.json      the servers that moved; the gateway reads it

Each is written before the client's file is, so a record may tell of a change that was never made.
What is true is told by the client's file alone: see `sayso.clients.undo`.
"""

import hashlib
import json
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sayso.clients.document import Document
from sayso.clients.folder import open_folder
from sayso.clients.places import Place
from sayso.clients.swap import clear, keep, read
from sayso.errors import ConfigError, UsageError

_SCHEMA: Final = 1
_RECORD: Final = "record.json"
_ORIGINAL: Final = "original-"


@dataclass(frozen=True, slots=True)
class Record:
    """One object of servers that sayso is put in front of.

    `written` holds each moved server as it stood in the file; `entry` is what stands there now.
    `changes` has the digest of each text that sayso wrote, and of the one to go back to from it.
    """

    folder: Path
    client: str
    scope: str
    path: Path
    steps: tuple[str, ...]
    workspace: Path
    entry: Mapping[str, Any] = field(repr=False)
    written: Mapping[str, str] = field(repr=False)
    changes: Mapping[str, str]

    @property
    def servers(self) -> Path:
        """The configuration that the gateway reads."""
        return self.folder / "servers.json"

    def moved(self) -> dict[str, Any]:
        """Each server that moved, as it was configured."""
        found = (Document.of("", f"{{{text}}}".encode()) for text in self.written.values())
        return {
            name: document.file.value[name]
            for name, document in zip(self.written, found, strict=True)
        }

    def original(self, digest: str) -> Path:
        """The bytes that a digest was taken of."""
        return self.folder / f"{_ORIGINAL}{digest[:16]}"

    def save(self) -> None:
        """Write the record."""
        fields = {
            "schema": _SCHEMA,
            "client": self.client,
            "scope": self.scope,
            "path": str(self.path),
            "steps": self.steps,
            "workspace": str(self.workspace),
            "entry": self.entry,
            "written": self.written,
            "changes": self.changes,
        }
        keep(self.folder / _RECORD, json.dumps(fields, indent=2).encode())

    def save_servers(self, servers: Mapping[str, Any]) -> None:
        """Write the configuration that the gateway reads."""
        keep(self.servers, json.dumps({"mcpServers": servers}, indent=2).encode())

    def save_original(self, data: bytes) -> str:
        """Keep the bytes of a file, and give their digest."""
        digest = digest_of(data)
        keep(self.original(digest), data)
        return digest

    def forget(self, *, keeps_originals: bool) -> None:
        """Take the record away, last of all, so that a crash leaves something to go on with."""
        clear(self.folder)
        with open_folder(self.folder) as folder:
            folder.unlink(self.servers.name)
            if not keeps_originals:
                for name in folder.names():
                    if name.startswith(_ORIGINAL):
                        folder.unlink(name)
            folder.unlink(_RECORD)
        if not keeps_originals:
            self.folder.rmdir()


def digest_of(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def root() -> Path:
    """The folder of all records, in the user's configuration."""
    from platformdirs import user_config_path  # noqa: PLC0415 - only these commands need it

    return user_config_path("sayso", appauthor=False) / "clients"


def folder_of(place: Place) -> Path:
    """The folder for what is at `place`; the file is known by its real name."""
    steps = json.dumps([str(place.path.resolve()), *place.steps])
    return root() / f"{place.client.name}-{digest_of(steps.encode())[:8]}"


def record_in(folder: Path) -> Record | None:
    """The record in `folder`, if there is one; raises `ConfigError` for what is none."""
    path = folder / _RECORD
    if not path.exists():
        return None
    try:
        fields = _fields(read(path))
        return Record(
            folder=folder,
            client=fields["client"],
            scope=fields["scope"],
            path=Path(fields["path"]),
            steps=tuple(fields["steps"]),
            workspace=Path(fields["workspace"]),
            entry=fields["entry"],
            written=dict(fields["written"]),
            changes=dict(fields["changes"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        fix = "A newer sayso may have written it. The files as they were are beside it."
        raise ConfigError("this is no record of sayso's", where=str(path), fix=fix) from error


def _fields(data: bytes) -> dict[str, Any]:
    fields = json.loads(data)
    if fields["schema"] != _SCHEMA:
        raise ValueError(fields["schema"])
    return fields


def records() -> list[Record]:
    """All records of this user."""
    found = (record_in(folder) for folder in sorted(root().glob("*")) if folder.is_dir())
    return [record for record in found if record is not None]


@contextmanager
def alone() -> Generator[None]:
    """While entered, no other sayso changes clients' files; raises `UsageError` if one does."""
    if sys.platform == "win32":
        raise UsageError("sayso does not change clients' files on Windows yet")
    with open_folder(root(), is_made=True) as folder:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        number = os.open("lock", flags, 0o600, dir_fd=folder.number)
    try:
        _lock(number)
        yield
    finally:
        os.close(number)


def _lock(number: int) -> None:
    import fcntl  # noqa: PLC0415 - not there on Windows, where what is configured can be listed

    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        fix = "End it, or answer it, and do this again."
        raise UsageError("another sayso install or uninstall is at work", fix=fix) from error
