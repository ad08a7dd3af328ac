"""The difference between two SQLite files, row by row. Both files must be unused copies."""

import sqlite3
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

MAGIC: Final = b"SQLite format 3\0"
MOST_ROWS: Final = 5_000
"""The maximum number of different rows that are listed per table and file; others are counted."""
MOST_PLACED: Final = 100
"""The maximum number of rows whose row number is looked up. Each lookup scans the table."""
STEPS: Final = 400_000_000
"""The maximum number of SQLite's steps in a comparison, since the files are untrusted."""

Row = tuple[Any, ...]
Key = tuple[Any, ...]
Keyed = tuple[Key, Row]
Sides = dict[str, str | None]
"""The table's name in the databases `old` and `new`, or `None` if the table is missing."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `key` are its key columns, if any. `has_rowid`: its row numbers can be read."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    has_rowid: bool
    sort: str = "table"


@dataclass(frozen=True, slots=True)
class Difference:
    """The changed rows of one table. `more_…` are numbers of further rows that are not listed."""

    table: Table
    inserted: Sequence[tuple[Key, Row]] = ()
    removed: Sequence[tuple[Key, Row]] = ()
    changed: Sequence[tuple[Key, Row, Row]] = ()
    more_inserted: int = 0
    more_removed: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.inserted or self.removed or self.changed or self.more_removed) and (
            not self.more_inserted
        )


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A change of the schema. `lost` is the number of rows or values that it removed."""

    name: str
    detail: str
    lost: int = 0


def compare_files(
    before: Path | None, after: Path | None
) -> tuple[tuple[SchemaChange, ...], tuple[Difference, ...]]:
    """Return the changes of schema and rows. `None` means no file. Raises `sqlite3.Error`."""
    with _attached(before, after) as db:
        old = _tables(db, "old")
        new = _tables(db, "new")
        renamed = dict(_renamed(db, old, new))
        schema_changes = tuple(_schema_changes(db, old, new, renamed=renamed))
        empty = {name: None for name in new if name not in old and name not in renamed.values()}
        pairs = [(old[name], new[name]) for name in old if name in new]
        pairs += [(old[first], new[second]) for first, second in renamed.items()]
        differences = [_difference(db, first, second) for first, second in pairs]
        differences += [_difference(db, None, new[name]) for name in empty]
        return schema_changes, tuple(
            difference for difference in differences if not difference.is_empty
        )


@contextmanager
def _attached(before: Path | None, after: Path | None) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        steps = iter(range(STEPS // 1_000_000))
        db.set_progress_handler(lambda: int(next(steps, None) is None), 1_000_000)
        for name, path in (("old", before), ("new", after)):
            db.execute(f"ATTACH ? AS {name}", (str(path) if path else ":memory:",))
            db.execute(f"SELECT count(*) FROM {name}.sqlite_schema").fetchone()
        db.execute("PRAGMA trusted_schema = OFF")
        yield db


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _tables(db: sqlite3.Connection, side: str) -> dict[str, Table]:
    """Return the readable tables by name, without views and the shadow tables of virtual tables."""
    listed = db.execute(f"PRAGMA {side}.table_list").fetchall()
    sorts = {row[1]: row[2] for row in listed if row[0] == side}
    bare = {row[1] for row in listed if row[0] == side and row[4]}
    found: dict[str, Table] = {}
    for name, sort in sorts.items():
        if name.startswith("sqlite_") or sort in ("view", "shadow"):
            continue
        with suppress(sqlite3.OperationalError):
            table = _table(db, side, name, sort=sort, has_rowid=name not in bare)
            db.execute(f"SELECT * FROM {side}.{quoted(name)} LIMIT 1").fetchone()
            found[name] = table
    return found


def _table(db: sqlite3.Connection, side: str, name: str, *, sort: str, has_rowid: bool) -> Table:
    rows = db.execute(f"PRAGMA {side}.table_xinfo({quoted(name)})").fetchall()
    columns = tuple(row[1] for row in rows if row[6] != 1)
    key = tuple(row[1] for row in sorted(rows, key=lambda row: row[5]) if row[5])
    if sort == "virtual":
        # Hidden columns, such as those of a full-text index, are left out: they hold no data.
        return Table(name, columns, ("rowid",) if has_rowid else (), has_rowid, sort)
    return Table(name, columns, key, has_rowid and "rowid" not in columns, sort)


def _renamed(
    db: sqlite3.Connection, old: dict[str, Table], new: dict[str, Table]
) -> Iterator[tuple[str, str]]:
    free = [table for name, table in new.items() if name not in old and table.sort == "table"]
    for name, table in old.items():
        if name in new or table.sort != "table" or not _count(db, "old", name):
            continue
        for other in free:
            if other.columns == table.columns and _difference(db, table, other).is_empty:
                free.remove(other)
                yield name, other.name
                break


def _schema_changes(
    db: sqlite3.Connection,
    old: dict[str, Table],
    new: dict[str, Table],
    *,
    renamed: dict[str, str],
) -> Iterator[SchemaChange]:
    before = _schema(db, "old")
    after = _schema(db, "new")
    for name, sql in before.items():
        if name in renamed:
            yield SchemaChange(name, f"renamed to {renamed[name]}")
        elif name not in after:
            lost = _count(db, "old", name) if name in old else 0
            yield SchemaChange(name, f"{sql[0]} dropped", lost)
        elif sql != after[name]:
            yield _altered(db, name, old=old.get(name), new=new.get(name))
    for name, sql in after.items():
        if name not in before and name not in renamed.values():
            yield SchemaChange(name, f"{sql[0]} created")
    for pragma in ("user_version", "application_id"):
        values = [db.execute(f"PRAGMA {side}.{pragma}").fetchone()[0] for side in ("old", "new")]
        if values[0] != values[1]:
            yield SchemaChange(pragma, f"{values[0]} → {values[1]}")


def _altered(
    db: sqlite3.Connection, name: str, *, old: Table | None, new: Table | None
) -> SchemaChange:
    gone = [column for column in old.columns if column not in new.columns] if old and new else []
    if not gone:
        return SchemaChange(name, "altered")
    has_value = " OR ".join(f"{quoted(column)} IS NOT NULL" for column in gone)
    count = db.execute(f"SELECT count(*) FROM old.{quoted(name)} WHERE {has_value}").fetchone()[0]
    return SchemaChange(name, f"column {', '.join(gone)} dropped", count)


def _schema(db: sqlite3.Connection, side: str) -> dict[str, tuple[str, str]]:
    shadows = {row[1] for row in db.execute(f"PRAGMA {side}.table_list") if row[2] == "shadow"}
    rows = db.execute(f"SELECT name, type, sql FROM {side}.sqlite_schema")
    return {
        name: (sort, sql or "")
        for name, sort, sql in rows
        if not name.startswith("sqlite_") and name not in shadows
    }


def _count(db: sqlite3.Connection, side: str, name: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {side}.{quoted(name)}").fetchone()[0])


def _difference(db: sqlite3.Connection, old: Table | None, new: Table) -> Difference:
    """Compare a table's rows with SQL, so that equal rows never get into Python's memory."""
    shared = [column for column in new.columns if old is None or column in old.columns]
    both = Table(new.name, tuple(shared), new.key, new.has_rowid, new.sort)
    if not shared:
        return Difference(both)
    sides = {"new": new.name, "old": old.name if old else None}
    gone, more_gone = _rows_of_one_side(db, "old", both, sides=sides)
    came, more_came = _rows_of_one_side(db, "new", both, sides=sides)
    if not both.key:
        gone, came = _without_pairs(gone, came), _without_pairs(came, gone)
        gone = _with_rowids(db, "old", both, gone, sides)
        came = _with_rowids(db, "new", both, came, sides)
    kept = {key for key, _ in gone if key} & {key for key, _ in came if key}
    now = {key: row for key, row in came if key in kept}
    return Difference(
        both,
        [(key, row) for key, row in came if key not in kept],
        [(key, row) for key, row in gone if key not in kept],
        [(key, row, now[key]) for key, row in gone if key in kept],
        more_came,
        more_gone,
    )


def _without_pairs(rows: list[Keyed], others: list[Keyed]) -> list[Keyed]:
    counts = Counter(_exact(row) for _, row in others)
    unpaired: list[Keyed] = []
    for key, row in rows:
        counts[_exact(row)] -= 1
        if counts[_exact(row)] < 0:
            unpaired.append((key, row))
    return unpaired


def _exact(row: Row) -> Row:
    return tuple((type(value).__name__, value) for value in row)


def _with_rowids(
    db: sqlite3.Connection, side: str, table: Table, rows: list[Keyed], sides: Sides
) -> list[Keyed]:
    name = sides[side]
    if name is None or not table.has_rowid or len(rows) > MOST_PLACED:
        return rows
    return [(_rowid(db, side, name, table, row), row) for _, row in rows]


def _rows_of_one_side(
    db: sqlite3.Connection, side: str, table: Table, *, sides: Sides
) -> tuple[list[Keyed], int]:
    other = "old" if side == "new" else "new"
    if sides[side] is None:
        return [], 0
    mine = _select(side, str(sides[side]), table)
    if sides[other] is None:
        sql = mine
    else:
        sql = f"{mine} EXCEPT {_select(other, str(sides[other]), table)}"
    rows = db.execute(f"SELECT * FROM ({sql}) LIMIT {MOST_ROWS}").fetchall()
    more = 0
    if len(rows) == MOST_ROWS:
        more = db.execute(f"SELECT count(*) FROM ({sql})").fetchone()[0] - MOST_ROWS
    width = len(table.key)
    count = len(table.columns)
    found: list[Keyed] = []
    for row in rows:
        times = 1 if width else int(row[-1])
        found += [(row[:width], row[width : width + count])] * min(times, MOST_ROWS)
    return found, more


def _select(side: str, name: str, table: Table) -> str:
    """Return the query for a table's keys, values and types.

    `COLLATE BINARY` shows changes of case; the types distinguish 1 from 1.0. In a table without a
    key, equal rows are counted: row numbers cannot identify them, since VACUUM changes the numbers.
    """
    columns = [f"{quoted(column)} COLLATE BINARY" for column in table.columns]
    types = [f"typeof({quoted(column)})" for column in table.columns]
    keys = [
        f"{column if column == 'rowid' else quoted(column)} COLLATE BINARY" for column in table.key
    ]
    source = f"{side}.{quoted(name)}"
    if table.key:
        return f"SELECT {', '.join([*keys, *columns, *types])} FROM {source}"
    words = ", ".join([*columns, *types])
    return f"SELECT {words}, count(*) FROM {source} GROUP BY {words}"


def _rowid(db: sqlite3.Connection, side: str, name: str, table: Table, values: Row) -> Key:
    where = " AND ".join(f"{quoted(column)} IS ?" for column in table.columns)
    sql = f"SELECT rowid FROM {side}.{quoted(name)} WHERE {where} LIMIT 1"
    found = db.execute(sql, _bound(values)).fetchone()
    return tuple(found) if found else ()


def _bound(values: Row) -> Row:
    """Return the values as query parameters. A text that is not valid UTF-8 matches no row."""
    return tuple(
        value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for value in values
    )
