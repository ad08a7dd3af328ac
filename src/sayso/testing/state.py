"""Probes of the state that tools change, and the differences between two snapshots."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

from sayso.errors import UsageError

State = Mapping[str, str]
"""Digests of files or rows by name."""
Probe = Callable[[], Any]
"""A function that returns equal values as long as the state does not change."""
Snapshots = tuple[Any, ...]
"""The result of each probe, in order; a mapping holds records by name."""
_MAX_NAMED: Final = 5


def difference(before: Snapshots, after: Snapshots) -> str:
    """Describe the changes between two snapshots; empty if there are none."""
    changes: list[str] = []
    for was, now in zip(before, after, strict=True):
        if was == now:
            continue
        if not (isinstance(was, Mapping) and isinstance(now, Mapping)):
            changes.append("the state was changed")
            continue
        old = cast("Mapping[Any, Any]", was)
        new = cast("Mapping[Any, Any]", now)
        for word, names in (
            ("made", [name for name in new if name not in old]),
            ("removed", [name for name in old if name not in new]),
            ("changed", [name for name in new if name in old and new[name] != old[name]]),
        ):
            if names:
                changes.append(f"{word} {_few(names)}")
    return " and ".join(changes)


def lost_between(before: Snapshots, after: Snapshots) -> str:
    """Describe the records that disappeared, as far as probes distinguish records."""
    lost: list[Any] = []
    for was, now in zip(before, after, strict=True):
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            lost += [name for name in cast("Mapping[Any, Any]", was) if name not in now]
    return _few(lost)


def _few(names: Sequence[Any]) -> str:
    shown = ", ".join(str(name) for name in names[:_MAX_NAMED])
    if len(names) > _MAX_NAMED:
        shown += f" and {len(names) - _MAX_NAMED} more"
    return shown


def folder_state(path: str | Path, *, ignore: Iterable[str] = ()) -> Callable[[], State]:
    """Return a probe of all files below `path`: names, contents and links.

    `ignore` are globs of paths to skip, relative to `path`, such as `".git/index"`. The probe
    raises `UsageError` if the folder does not exist.

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
            raise UsageError("no such folder", where=str(root))
        files = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*"))}
        return {
            name: _digest_of(file)
            for name, file in files.items()
            if not any(fnmatch(name, glob) for glob in ignored)
        }

    return probe


def sqlite_state(path: str | Path, *, ignore: Iterable[str] = ()) -> Callable[[], State]:
    """Return a probe of all rows of the SQLite file at `path`, and of its schema.

    `ignore` are globs of tables to skip. A row is identified by its rowid or, without one, by its
    content. The file is opened read-only; the probe raises `UsageError` if that fails.

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
            raise UsageError(f"the file cannot be read: {error}", where=str(file)) from error

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
    state: dict[str, str] = {}
    master = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
    for kind, name, sql in master.fetchall():
        if name.startswith("sqlite_") or any(fnmatch(name, glob) for glob in ignored):
            continue
        state[f"{kind} {name}"] = _digest(sql)
        if kind == "table":
            state |= _rows_of(connection, name)
    return state


def _rows_of(connection: sqlite3.Connection, table: str) -> State:
    known = '"' + table.replace('"', '""') + '"'
    columns = {row[1].lower() for row in connection.execute(f"PRAGMA table_xinfo({known})")}
    # A column named rowid hides the row's own number.
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
