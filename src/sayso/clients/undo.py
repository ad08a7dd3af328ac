"""What a client's file was, or would be, without sayso: told from the file as it stands now."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sayso.clients.choice import is_gateway
from sayso.clients.document import Document, as_object
from sayso.clients.kinds import ENTRY
from sayso.clients.record import Record, digest_of
from sayso.clients.splice import put_back
from sayso.clients.swap import read
from sayso.errors import ConfigError

_URLS = ("url", "httpUrl")


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
