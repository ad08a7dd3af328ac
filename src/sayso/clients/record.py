"""What sayso has done to clients' files, and how to undo it.

One folder for each object of servers, for this user alone:

    record.json       what was moved, as it was written, and digests of the file
    original-DIGEST   the bytes of the file before it was changed
    servers.json      the servers that moved; the gateway reads it

Each is written before the client's file is, so a record may tell of a change that was never made.
What is true is told by the client's file alone: see `undo`.
"""

import hashlib
import json
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sayso.clients.choice import is_gateway
from sayso.clients.document import Document, as_object
from sayso.clients.folder import open_folder
from sayso.clients.kinds import ENTRY
from sayso.clients.places import Place
from sayso.clients.splice import put_back
from sayso.clients.swap import clear, keep, read
from sayso.errors import ConfigError, UsageError

_SCHEMA: Final = 1
_RECORD: Final = "record.json"
_ORIGINAL: Final = "original-"
_URLS: Final = ("url", "httpUrl")


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


def is_in_front(document: Document, record: Record) -> bool:
    """Whether sayso's entry stands in the file, as sayso wrote it or changed since."""
    entry = document.servers(record.steps).get(ENTRY)
    if entry == record.entry or is_gateway(entry):
        return True
    fields = as_object(entry)
    return any(key in fields and fields[key] == record.entry.get(key) for key in _URLS)


def is_as_written(document: Document, record: Record) -> bool:
    """Whether the entry that sayso wrote is in the file, unchanged."""
    return document.servers(record.steps).get(ENTRY) == record.entry


def undo(document: Document, record: Record) -> tuple[Document, bool]:
    """The file without sayso, and whether that is, byte for byte, what it was before.

    It is where nobody has changed the file since. Else the servers are put back into it, each as
    it was written, and all other changes stay. Raises `ConfigError` where that cannot be done
    without losing what somebody has written since.
    """
    if (before := _before(document, record)) is not None:
        return Document.of(document.path, before), True
    servers = document.servers(record.steps)
    has_entry = is_in_front(document, record)
    _check_changed(document, record, servers)
    if not has_entry and digest_of(document.data) in record.changes.values():
        return document, False  # what was planned was never done, or is undone already
    raw = [written for name, written in record.written.items() if name not in servers]
    if not raw and not has_entry:
        return document, False
    return put_back(document, record.steps, name=ENTRY if has_entry else None, raw=raw), False


def _before(document: Document, record: Record) -> bytes | None:
    """Return the bytes from before, if the file is as sayso wrote it and they are unharmed."""
    digest = record.changes.get(digest_of(document.data))
    if digest is not None:
        with suppress(ConfigError):
            data = read(record.original(digest))
            if digest_of(data) == digest:
                return data
    return None


def _check_changed(document: Document, record: Record, servers: Mapping[str, Any]) -> None:
    for name, old in record.moved().items():
        if name in servers and servers[name] != old and is_in_front(document, record):
            what = (
                f"“{name}” stands there again, and not as it was when sayso was put in front of it"
            )
            where = document.file.where(*record.steps, name, of_key=True)
            fix = f"Take one of the two away. The file as it was is kept in {record.folder}."
            raise ConfigError(what, where=where, fix=fix)
