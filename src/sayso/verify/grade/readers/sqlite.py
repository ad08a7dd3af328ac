"""SQLite: rows and schema, whatever its pages look like."""

import sqlite3
import tempfile
from pathlib import Path

from sayso.trace import Loss
from sayso.verify.grade.readers.content import Outcome
from sayso.verify.observe.tables import MAGIC, compare_files


class SqliteReader:
    """Rows, by key. The log beside a file is not part of its bytes: the observer reads that."""

    name = "sqlite"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        if not before.startswith(MAGIC) or not after.startswith(MAGIC):
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
