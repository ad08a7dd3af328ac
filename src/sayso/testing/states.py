"""Ready-made looks at the state that tools change: a folder, a SQLite file."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sayso.errors import UsageError

State = Mapping[str, str]
"""What there is, by name: a digest of each file or row."""

Probe = Callable[[], Any]
"""Looks at the state; two looks are equal where nothing has changed."""


def folder_state(path: str | Path, *, ignore: Iterable[str] = ()) -> Callable[[], State]:
    """A probe of all files below `path`: names, contents, links.

    `ignore` are globs for names from `path`, such as `".git/index"`, of what does not count. The
    probe raises `UsageError` where there is no such folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "a.txt").touch()
    ...     list(folder_state(folder)())
    ['a.txt']
    """
    root = Path(path)
    ignored = tuple(ignore)

    def probe() -> State:
        if not root.is_dir():
            raise UsageError("there is no such folder", where=str(root))
        found = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*"))}
        return {
            name: _digest_of(file)
            for name, file in found.items()
            if not any(fnmatch(name, glob) for glob in ignored)
        }

    return probe


def sqlite_state(path: str | Path, *, ignore: Iterable[str] = ()) -> Callable[[], State]:
    """A probe of all rows of the SQLite file at `path`, and of its schema.

    `ignore` are globs for names of tables that do not count. A row is known by its rowid or, in a
    table without, by all of it. The file is opened for reading only; the probe raises `UsageError`
    where it cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with closing(sqlite3.connect(f"{folder}/a.db")) as made:
    ...         _ = made.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    ...     list(sqlite_state(f"{folder}/a.db")())
    ['table t', 't row 1']
    """
    file = Path(path)
    ignored = tuple(ignore)

    def probe() -> State:
        try:
            url = f"file:{quote(str(file.absolute()))}?mode=ro"
            with closing(sqlite3.connect(url, uri=True)) as connection:
                return _rows(connection, ignored)
        except sqlite3.Error as error:
            raise UsageError(f"this cannot be read: {error}", where=str(file)) from error

    return probe


def _digest_of(file: Path) -> str:
    if file.is_symlink():
        return f"link to {file.readlink()}"
    if file.is_dir():
        return "folder"
    if not file.is_file():
        return "special file"
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _rows(connection: sqlite3.Connection, ignored: tuple[str, ...]) -> State:
    found: dict[str, str] = {}
    master = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
    for kind, name, sql in master.fetchall():
        if name.startswith("sqlite_") or any(fnmatch(name, glob) for glob in ignored):
            continue
        found[f"{kind} {name}"] = _digest(sql)
        if kind == "table":
            found |= _rows_of(connection, name)
    return found


def _rows_of(connection: sqlite3.Connection, table: str) -> State:
    known = '"' + table.replace('"', '""') + '"'
    columns = {row[1].lower() for row in connection.execute(f"PRAGMA table_xinfo({known})")}
    # A column may be called as the row's own number is, and then stands in its place.
    number = next((name for name in ("rowid", "_rowid_", "oid") if name not in columns), "no rowid")
    try:
        rows = connection.execute(f"SELECT {number}, * FROM {known} ORDER BY 1").fetchall()  # noqa: S608 - quoted
    except sqlite3.OperationalError:  # a table without rowids
        rows = [
            (_digest(row)[:12], *row)
            for row in connection.execute(f"SELECT * FROM {known}")  # noqa: S608 - quoted
        ]
    return {f"{table} row {row[0]}": _digest(row[1:]) for row in rows}


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()
