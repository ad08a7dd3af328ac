"""The choice of a file's reader: by its first bytes, then by its name, then by trial."""

import sqlite3
import tempfile
from pathlib import Path, PurePosixPath
from typing import Final

from sayso.trace import Loss
from sayso.verify.grade.readers.content import Outcome, Reader
from sayso.verify.grade.readers.gitindex import MAGIC as INDEX
from sayso.verify.grade.readers.gitindex import GitIndexReader
from sayso.verify.grade.readers.json import JsonLinesReader, JsonReader
from sayso.verify.grade.readers.office import DocxReader, XlsxReader
from sayso.verify.grade.readers.table import CsvReader, IniReader, TomlReader
from sayso.verify.grade.readers.text import TextReader
from sayso.verify.observe.tables import MAGIC as SQLITE
from sayso.verify.observe.tables import compare_files

BINARY: Final = (SQLITE, b"PK\x03\x04")
"""Formats whose content counts as lost if the new bytes no longer have the format."""
NAMES: Final[dict[str, Reader]] = {
    ".csv": CsvReader(),
    ".tsv": CsvReader(),
    ".ini": IniReader(),
    ".cfg": IniReader(),
    ".toml": TomlReader(),
}


class SqliteReader:
    """Compares rows by key. It reads the database file alone; the SQLite observer reads its WAL."""

    name = "sqlite"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        if not before.startswith(SQLITE) or not after.startswith(SQLITE):
            raise ValueError("not SQLite")
        with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
            paths = [Path(folder) / name for name in ("before", "after")]
            for path, content in zip(paths, (before, after), strict=True):
                path.write_bytes(content)
            try:
                schema_changes, rows = compare_files(paths[0], paths[1])
            except sqlite3.Error as error:
                raise ValueError(str(error)) from error
        if not schema_changes and not rows:
            return Outcome(is_same=True)
        if any(schema_change.lost for schema_change in schema_changes) or any(
            row.removed or row.more_removed for row in rows
        ):
            return Outcome(Loss.LOST, "rows lost")
        if any(row.changed for row in rows):
            return Outcome(Loss.OVERWROTE)
        return Outcome()


def compare_contents(path: str, before: bytes, after: bytes) -> tuple[str, Outcome] | None:
    """Return a file's format and the comparison of its records, or `None` if no reader fits."""
    for reader in _candidates(path, before):
        try:
            return reader.name, reader.compare(before, after)
        except (ValueError, RecursionError):
            if before.startswith(BINARY) and _reads(reader, before):
                lost = f"no longer readable as {reader.name}"
                return reader.name, Outcome(Loss.LOST, lost)
    return None


def _reads(reader: Reader, content: bytes) -> bool:
    try:
        return reader.compare(content, content).is_same
    except (ValueError, RecursionError):
        return False


def _candidates(path: str, content: bytes) -> list[Reader]:
    if content.startswith(SQLITE):
        return [SqliteReader()]
    if content.startswith(INDEX):
        return [GitIndexReader()]
    if content.startswith(b"PK\x03\x04"):
        return [XlsxReader(), DocxReader()]
    readers: list[Reader] = []
    if named := NAMES.get(PurePosixPath(path).suffix.lower()):
        readers.append(named)
    if content.lstrip()[:1] in (b"{", b"["):
        readers += [JsonReader(), JsonLinesReader()]
    return [*readers, TextReader()]
