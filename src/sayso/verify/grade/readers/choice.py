"""Which reader knows a file: by its first bytes, then by its name, then by trying."""

from pathlib import PurePosixPath
from typing import Final

from sayso.trace import Loss
from sayso.verify.grade.readers.content import Outcome, Reader
from sayso.verify.grade.readers.gitindex import MAGIC as INDEX
from sayso.verify.grade.readers.gitindex import GitIndexReader
from sayso.verify.grade.readers.json import JsonLinesReader, JsonReader
from sayso.verify.grade.readers.office import DocxReader, XlsxReader
from sayso.verify.grade.readers.sqlite import MAGIC as SQLITE
from sayso.verify.grade.readers.sqlite import SqliteReader
from sayso.verify.grade.readers.table import CsvReader, IniReader, TomlReader
from sayso.verify.grade.readers.text import TextReader

BINARY: Final = (SQLITE, b"PK\x03\x04")
"""Formats of which nothing is left where the bytes are no longer of them."""
NAMES: Final[dict[str, Reader]] = {
    ".csv": CsvReader(),
    ".tsv": CsvReader(),
    ".ini": IniReader(),
    ".cfg": IniReader(),
    ".toml": TomlReader(),
}


def compare_contents(path: str, before: bytes, after: bytes) -> tuple[str, Outcome] | None:
    """The format and what became of its records; `None` where the format is known to none."""
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
    found: list[Reader] = []
    if named := NAMES.get(PurePosixPath(path).suffix.lower()):
        found.append(named)
    if content.lstrip()[:1] in (b"{", b"["):
        found += [JsonReader(), JsonLinesReader()]
    return [*found, TextReader()]
