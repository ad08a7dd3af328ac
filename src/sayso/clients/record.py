"""Records of sayso's changes to clients' files, and their reversal.

One private folder for each object of servers:

    record.json       the moved servers as they were written, and digests of the file
    original-DIGEST   the bytes of the file before the change
    servers.json      the moved servers, for the gateway

All are written before the client's file, so a record may describe a change that was never made.
Only the client's file shows whether it was made (see `undo`).
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
    """One object of servers with sayso in front.

    `written` has the original text of each moved server. `entry` is sayso's entry. `changes` maps
    the digest of each text that sayso wrote to the digest of the text to restore.
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
        """Return each moved server as it was configured."""
        return {
            name: Document.of("", f"{{{text}}}".encode()).file.value[name]
            for name, text in self.written.items()
        }

    def original(self, digest: str) -> Path:
        """Return the path of the bytes with this digest."""
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
        """Save the bytes of a file, and return their digest."""
        digest = digest_of(data)
        keep(self.original(digest), data)
        return digest

    def forget(self, *, keeps_originals: bool) -> None:
        """Delete the folder's files, the record last, so that a crash can be recovered."""
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
    """Return the SHA-256 digest in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def root() -> Path:
    """Return the folder of all records, in the user's configuration."""
    from platformdirs import user_config_path  # noqa: PLC0415 - only these commands need it

    return user_config_path("sayso", appauthor=False) / "clients"


def folder_of(place: Place) -> Path:
    """Return the record's folder for `place`, which depends on the real path of its file."""
    steps = json.dumps([str(place.path.resolve()), *place.steps])
    return root() / f"{place.client.name}-{digest_of(steps.encode())[:8]}"


def record_in(folder: Path) -> Record | None:
    """Return the record in `folder`, if there is one. Raises `ConfigError` if it is invalid."""
    path = folder / _RECORD
    if not path.exists():
        return None
    try:
        fields = json.loads(read(path))
        if fields["schema"] != _SCHEMA:
            raise ValueError(fields["schema"])  # noqa: TRY301 - reported like other mistakes
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
        fix = "A newer sayso may have written it. The original files are in the same folder."
        raise ConfigError("invalid record", where=str(path), fix=fix) from error


def records() -> list[Record]:
    """Return all records of this user."""
    folders = (record_in(folder) for folder in sorted(root().glob("*")) if folder.is_dir())
    return [record for record in folders if record is not None]


@contextmanager
def alone() -> Generator[None]:
    """Lock clients' files for this process. Raises `UsageError` if another process has the lock."""
    if sys.platform == "win32":
        raise UsageError("sayso install does not support Windows yet")
    with open_folder(root(), is_made=True) as folder:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        number = os.open("lock", flags, 0o600, dir_fd=folder.number)
    try:
        _lock(number)
        yield
    finally:
        os.close(number)


def _lock(number: int) -> None:
    import fcntl  # noqa: PLC0415 - missing on Windows, where discovery still works

    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        fix = "Finish it, and try again."
        raise UsageError("another sayso install or uninstall is running", fix=fix) from error


def is_in_front(document: Document, record: Record) -> bool:
    """Return whether sayso's entry is in the file, even if it was changed."""
    entry = document.servers(record.steps).get(ENTRY)
    if entry == record.entry or is_gateway(entry):
        return True
    fields = as_object(entry)
    return any(key in fields and fields[key] == record.entry.get(key) for key in _URLS)


def is_as_written(document: Document, record: Record) -> bool:
    """Return whether sayso's entry is in the file, unchanged."""
    return document.servers(record.steps).get(ENTRY) == record.entry


def undo(document: Document, record: Record) -> tuple[Document, bool]:
    """Return the file without sayso, and whether that restores every byte.

    If the file has changed, insert the original text of the servers and keep all other changes.
    Raises `ConfigError` if that would lose a later change.
    """
    if (before := _before(document, record)) is not None:
        return Document.of(document.path, before), True
    servers = document.servers(record.steps)
    has_entry = is_in_front(document, record)
    _check_changed(document, record, servers)
    if not has_entry and digest_of(document.data) in record.changes.values():
        return document, False  # never carried out, or already undone
    raw = [written for name, written in record.written.items() if name not in servers]
    if not raw and not has_entry:
        return document, False
    return put_back(document, record.steps, name=ENTRY if has_entry else None, raw=raw), False


def _before(document: Document, record: Record) -> bytes | None:
    """Return the original bytes, or `None` if the file or the saved bytes were changed."""
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
            what = f"“{name}” was added again, and differs from the one behind sayso"
            where = document.file.where(*record.steps, name, of_key=True)
            fix = f"Remove it. The original file is kept in {record.folder}."
            raise ConfigError(what, where=where, fix=fix)
