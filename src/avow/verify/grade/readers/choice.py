"""Which reader knows a file: by its first bytes, then by its name, then by trying."""

from pathlib import PurePosixPath
from typing import Final

from avow.verify.grade.readers.content import Outcome, Reader
from avow.verify.grade.readers.gitindex import MAGIC as INDEX
from avow.verify.grade.readers.gitindex import GitIndexReader
from avow.verify.grade.readers.json import JsonLinesReader, JsonReader
from avow.verify.grade.readers.mbox import MboxReader
from avow.verify.grade.readers.office import DocxReader, XlsxReader
from avow.verify.grade.readers.sqlite import MAGIC as SQLITE
from avow.verify.grade.readers.sqlite import SqliteReader
from avow.verify.grade.readers.table import CsvReader, IniReader, TomlReader
from avow.verify.grade.readers.text import TextReader

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
            continue
    return None


def _candidates(path: str, content: bytes) -> list[Reader]:
    if content.startswith(SQLITE):
        return [SqliteReader()]
    if content.startswith(INDEX):
        return [GitIndexReader()]
    if content.startswith(b"PK\x03\x04"):
        return [XlsxReader(), DocxReader()]
    named = NAMES.get(PurePosixPath(path).suffix.lower())
    found: list[Reader] = [named] if named else []
    if content.startswith(b"From "):
        found.append(MboxReader())
    if content.lstrip()[:1] in (b"{", b"["):
        found += [JsonReader(), JsonLinesReader()]
    return [*found, TextReader()]
