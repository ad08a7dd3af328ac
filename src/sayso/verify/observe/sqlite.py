"""The observer of rows in every SQLite file of the places."""

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, Final, NamedTuple

from anyio import to_thread

from sayso.sandbox import Layer, Place
from sayso.trace import Effect, Kind, Loss, Observer
from sayso.verify.observe.snapshot import Stat, outermost, scan
from sayso.verify.observe.tables import MAGIC, Difference, Key, Row, SchemaChange, compare_files

MOST_BYTES: Final = 512 * 1024 * 1024
MOST_IN_ALL: Final = 3 * MOST_BYTES
"""The maximum size of all copies. The copy of a sparse file takes its full size."""
EXAMPLES: Final = 5
MAX_ROW_CHARACTERS: Final = 2_000
"""The maximum number of characters of a row in an effect."""
SIDECARS: Final = ("-wal", "-journal")
"""Sidecar files with content. SQLite creates `-shm` again from the WAL."""
STRANGER: Final = 4
"""If a row has at least this many values and all changed, it counts as a new row under its key."""

State = tuple[tuple[str, Stat | None], ...]


class Source(NamedTuple):
    """The table of the changed rows, the observer, and the call's number."""

    table: str
    observer: Observer
    call: int


class SqliteWatcher:
    """A `Watcher` of rows. SQLite opens only copies of the files, never the originals."""

    def __init__(self, places: Sequence[Place], folder: Path) -> None:
        self._places = outermost(places)
        self._folder = folder
        self._numbers = count(1)
        self._plain: dict[str, Stat] = {}
        self._states: dict[str, State] = {}
        self._copies: dict[str, Path | None] = {}
        self._pending: list[Effect] = []
        self._has_looked = False
        self._unread: dict[str, str] = {}
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def layer(self) -> Layer:
        """Return the layer, with a note on files that could not be read."""
        detail = f"{sum(copy is not None for copy in self._copies.values())} files"
        if self._unread:
            path, why = next(iter(self._unread.items()))
            detail += f"; {len(self._unread)} not read, such as {Path(path).name}: {why}"
        return Layer("sqlite", is_active=True, detail=detail)

    async def begin(self) -> None:
        self._pending += await to_thread.run_sync(self._look, 0)

    async def end(self, call: int) -> Sequence[Effect]:
        effects = (*self._pending, *await to_thread.run_sync(self._look, call))
        self._pending = []
        return effects

    def _look(self, call: int) -> list[Effect]:
        found: dict[str, tuple[State, Place]] = {}
        for place in self._places:
            present = dict(scan(str(place.host)))
            found |= {
                path: (tuple((end, present.get(path + end)) for end in ("", *SIDECARS)), place)
                for path, status in present.items()
                if self._is_database(path, status)
            }
        effects: list[Effect] = []
        for path, (state, place) in found.items():
            if self._states.get(path) != state:
                inside = place.inside_of(Path(path))
                effects += self._changed(path, inside, state=state, call=call)
        for path in set(self._states) - set(found):
            place = next(known for known in self._places if Path(path).is_relative_to(known.host))
            effects += self._gone(path, place.inside_of(Path(path)), call=call)
        is_first = not self._has_looked
        self._has_looked = True
        return [] if is_first else effects

    def _is_database(self, path: str, status: Stat) -> bool:
        """Return whether a file begins with SQLite's first bytes, or was an SQLite file before.

        In WAL mode the file may still be empty, with all content in the WAL.
        """
        if not S_ISREG(status.mode) or self._plain.get(path) == status:
            return False
        if path in self._states and status.size:
            return True
        is_database = _begins(path) == MAGIC
        if not is_database:
            self._plain[path] = status
        return is_database

    def _changed(self, path: str, inside: str, *, state: State, call: int) -> list[Effect]:
        before = self._copies.get(path)
        self._states[path] = state
        try:
            copy = self._copy(path)
            effects = list(_effects(inside, before, copy, call=call))
        except (OSError, ValueError, sqlite3.Error) as error:
            self._unread[inside] = str(error)
            return [Effect(Kind.BLIND, inside, Observer.SQLITE, call, f"cannot be read: {error}")]
        self._copies[path] = copy
        self._unread.pop(inside, None)
        _remove(before)
        return effects

    def _gone(self, path: str, inside: str, *, call: int) -> list[Effect]:
        before = self._copies.pop(path, None)
        del self._states[path]
        if before is None:
            return []
        effects = list(_effects(inside, before, None, call=call))
        _remove(before)
        return effects

    def _copy(self, path: str) -> Path:
        size = sum(found[0] for found in _sizes(path) if found)
        others = sum(replica.stat().st_size for replica in self._folder.glob("*.db*"))
        if size > MOST_BYTES or others + size > MOST_IN_ALL:
            raise ValueError("too large")
        copy = self._folder / f"{next(self._numbers)}.db"
        for _ in range(3):
            before = _sizes(path)
            _remove(copy)
            _copy_plain(path, copy)
            for sidecar in SIDECARS:
                log = Path(path + sidecar)
                if log.is_file() and not log.is_symlink():
                    _copy_plain(path + sidecar, Path(f"{copy}{sidecar}"))
            if _sizes(path) == before:
                break
        return copy


def _begins(path: str) -> bytes:
    try:
        with _open_plain(path) as file:
            return file.read(len(MAGIC))
    except OSError:
        return b""


def _open_plain(path: str) -> BinaryIO:
    """Open a file. Raises `OSError` if it is now a link, which may lead out of the sandbox."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags), "rb")


def _copy_plain(path: str, copy: Path) -> None:
    """Copy a file's content up to the limit. Raises `OSError` or `ValueError` for another entry."""
    with _open_plain(path) as source, copy.open("wb") as target:
        if not S_ISREG(os.fstat(source.fileno()).st_mode):
            raise ValueError("no longer a file")
        remaining = MOST_BYTES
        while remaining > 0 and (chunk := source.read(min(remaining, 1 << 20))):
            target.write(chunk)
            remaining -= len(chunk)


def _sizes(path: str) -> list[tuple[int, int] | None]:
    return [
        (found.st_size, found.st_mtime_ns)
        if (file := Path(path + end)).exists() and (found := file.stat())
        else None
        for end in ("", *SIDECARS)
    ]


def _remove(copy: Path | None) -> None:
    if copy is not None:
        for end in ("", *SIDECARS, "-shm"):
            Path(f"{copy}{end}").unlink(missing_ok=True)


def _effects(
    inside: str, before: Path | None, after: Path | None, *, call: int
) -> Iterator[Effect]:
    schema_changes, differences = compare_files(before, after)
    for schema_change in schema_changes:
        yield _schema_effect(inside, schema_change, call=call)
    for difference in differences:
        yield from row_effects(f"{inside}#{difference.table.name}", difference, call=call)


def _schema_effect(inside: str, schema_change: SchemaChange, *, call: int) -> Effect:
    lost = Loss.LOST if schema_change.lost else Loss.NONE
    detail = (
        f"{schema_change.detail} with {schema_change.lost} rows"
        if schema_change.lost
        else schema_change.detail
    )
    target = f"{inside}#{schema_change.name}"
    return Effect(Kind.SCHEMA, target, Observer.SQLITE, call, detail, loss=lost)


def row_effects(
    table: str, difference: Difference, *, call: int, observer: Observer = Observer.SQLITE
) -> Iterator[Effect]:
    """Yield an effect for each of the first rows of a kind, and one effect for the others."""
    columns = difference.table.columns
    changed = [
        change
        for change in difference.changed
        if not _is_stranger(difference, change[1], change[2])
    ]
    strangers = [
        change for change in difference.changed if _is_stranger(difference, change[1], change[2])
    ]
    removed = [*difference.removed, *((key, row) for key, row, _ in strangers)]
    inserted = [*difference.inserted, *((key, row) for key, _, row in strangers)]
    source = Source(table, observer, call)
    rows = [(key, _describe_row(columns, row)) for key, row in removed]
    yield from _limited_effects(Kind.REMOVE, source, rows, more=difference.more_removed)
    pairs = [(key, _describe_change(columns, old, new)) for key, old, new in changed]
    yield from _limited_effects(Kind.UPDATE, source, pairs, more=0)
    rows = [(key, _describe_row(columns, row)) for key, row in inserted]
    yield from _limited_effects(Kind.INSERT, source, rows, more=difference.more_inserted)


def _limited_effects(
    kind: Kind, source: Source, rows: Sequence[tuple[Key, str]], *, more: int
) -> Iterator[Effect]:
    losses = {Kind.REMOVE: Loss.LOST, Kind.UPDATE: Loss.OVERWROTE}
    loss = losses.get(kind, Loss.NONE)
    listed = [(",".join(_shown(cell) for cell in key), detail) for key, detail in rows[:EXAMPLES]]
    others = len(rows) - EXAMPLES + more
    if others > 0:
        listed.append(("*", f"{others} more rows"))
    for key, detail in listed:
        target = f"{source.table}/{key}"
        yield Effect(kind, target, source.observer, source.call, detail, loss=loss)


def _is_stranger(difference: Difference, old: Row, new: Row) -> bool:
    """Return whether a changed row is a different row under the same key: all values changed.

    Without a primary key, SQLite may give a removed row's number to a new row.
    """
    key = difference.table.key
    columns = [column for column, name in enumerate(difference.table.columns) if name not in key]
    minimum = STRANGER if key and difference.table.sort == "table" else 2
    return len(columns) >= minimum and all(old[column] != new[column] for column in columns)


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return str(value).encode("utf-8", "replace").decode()


def _describe_row(columns: Sequence[str], row: Row) -> str:
    shown = {
        name: value if isinstance(value, int | float | None) else _shown(value)[:MAX_ROW_CHARACTERS]
        for name, value in zip(columns, row, strict=True)
    }
    return json.dumps(shown, ensure_ascii=False)[:MAX_ROW_CHARACTERS]


def _describe_change(columns: Sequence[str], old: Row, new: Row) -> str:
    changes = [
        f"{name}: {_shown(first)[:80]} → {_shown(second)[:80]}"
        for name, first, second in zip(columns, old, new, strict=True)
        if first != second or type(first) is not type(second)
    ]
    return "; ".join(changes)[:MAX_ROW_CHARACTERS]
