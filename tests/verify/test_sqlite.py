import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tiers import examples

from sayso.sandbox.mount import Place, Role
from sayso.trace.effect import Effect, Kind, Loss
from sayso.verify.observe.sqlite import SqliteWatcher

NOTES = """
    PRAGMA synchronous = OFF;
    CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT COLLATE NOCASE, body, n);
    INSERT INTO notes VALUES (1, 'a', 'one', 1), (2, 'b', 'two', 2), (3, 'c', x'00ff', 3);
    CREATE TABLE pairs (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
    INSERT INTO pairs VALUES (1, 'x'), (2, 'y');
    CREATE TABLE loose (word);
    INSERT INTO loose VALUES ('p'), ('p'), ('q'), ('r');
"""


@pytest.fixture
def base(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    (tmp_path / "world").mkdir()
    with closing(sqlite3.connect(tmp_path / "world" / "base.db", isolation_level=None)) as db:
        db.executescript(NOTES)
        yield db


@pytest.fixture
def watcher(tmp_path: Path) -> SqliteWatcher:
    return SqliteWatcher([Place("/w", tmp_path / "world", Role.FIXTURE)], tmp_path / "copies")


async def changes(
    watcher: SqliteWatcher, db: sqlite3.Connection, statement: str
) -> list[tuple[str, str, str, str]]:
    await watcher.begin()
    db.executescript(statement)
    found = await watcher.end(1)
    return [(str(e.kind), e.target.removeprefix("/w/"), e.detail, str(e.loss)) for e in found]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT * FROM notes", []),
        ("VACUUM", []),
        ("BEGIN; DELETE FROM notes; ROLLBACK", []),
        ("ANALYZE", []),
        (
            "UPDATE notes SET title = 'A' WHERE id = 1",
            [("update", "base.db#notes/1", "title: a → A", "overwrote")],
        ),
        (
            "UPDATE notes SET n = 2.0 WHERE id = 2",
            [("update", "base.db#notes/2", "n: 2 → 2.0", "overwrote")],
        ),
        (
            "DELETE FROM notes WHERE id = 3",
            [
                (
                    "remove",
                    "base.db#notes/3",
                    '{"id": 3, "title": "c", "body": "<2 bytes>", "n": 3}',
                    "lost",
                )
            ],
        ),
        (
            "REPLACE INTO notes VALUES (1, 'a', 'other', 1)",
            [("update", "base.db#notes/1", "body: one → other", "overwrote")],
        ),
        (
            "INSERT INTO pairs VALUES (1, 'z')",
            [("insert", "base.db#pairs/1,z", '{"a": 1, "b": "z"}', "none")],
        ),
        (
            "DELETE FROM loose WHERE rowid = 1",
            [("remove", "base.db#loose/1", '{"word": "p"}', "lost")],
        ),
        (
            "UPDATE loose SET word = 'R' WHERE word = 'r'",
            [("update", "base.db#loose/4", "word: r → R", "overwrote")],
        ),
        ("ALTER TABLE loose ADD COLUMN more", [("schema", "base.db#loose", "altered", "none")]),
        (
            "ALTER TABLE loose RENAME TO heap",
            [("schema", "base.db#loose", "renamed to heap", "none")],
        ),
        (
            "ALTER TABLE notes DROP COLUMN body",
            [("schema", "base.db#notes", "column body dropped with 3 rows", "lost")],
        ),
        (
            "DROP TABLE pairs",
            [("schema", "base.db#pairs", "table dropped with 2 rows", "lost")],
        ),
        (
            "CREATE INDEX by_title ON notes (title)",
            [("schema", "base.db#by_title", "index created", "none")],
        ),
        ("PRAGMA user_version = 3", [("schema", "base.db#user_version", "0 → 3", "none")]),
    ],
)
async def test_a_statement_is_told_by_what_it_did_to_rows(
    watcher: SqliteWatcher,
    base: sqlite3.Connection,
    statement: str,
    expected: list[tuple[str, str, str, str]],
) -> None:
    assert await changes(watcher, base, statement) == expected


async def test_rows_in_the_log_are_seen_and_the_original_is_left_alone(
    watcher: SqliteWatcher, base: sqlite3.Connection, tmp_path: Path
) -> None:
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA wal_autocheckpoint = 0")
    await watcher.begin()
    base.execute("INSERT INTO notes VALUES (9, 'i', '', 9)")
    before = {path.name: path.read_bytes() for path in (tmp_path / "world").iterdir()}
    (effect,) = await watcher.end(1)

    assert (effect.kind, effect.target) == (Kind.INSERT, "/w/base.db#notes/9")
    assert {path.name: path.read_bytes() for path in (tmp_path / "world").iterdir()} == before
    assert await changes(watcher, base, "PRAGMA wal_checkpoint(TRUNCATE)") == []


async def test_another_record_under_the_key_of_one_that_went_is_a_loss(
    watcher: SqliteWatcher, base: sqlite3.Connection
) -> None:
    base.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name, mail, born, town)")
    base.execute("INSERT INTO people VALUES (1, 'Amy', 'amy@a', 1990, 'Aix')")
    found = await changes(
        watcher, base, "REPLACE INTO people VALUES (1, 'Bob', 'bob@b', 1980, 'Bath')"
    )

    assert [(kind, loss) for kind, _, _, loss in found] == [("remove", "lost"), ("insert", "none")]


async def test_many_rows_are_a_few_and_a_number(
    watcher: SqliteWatcher, base: sqlite3.Connection
) -> None:
    base.execute("BEGIN")
    base.executemany("INSERT INTO loose VALUES (?)", [(f"word {n}",) for n in range(20_000)])
    base.execute("COMMIT")
    found = await changes(watcher, base, "DELETE FROM loose")

    assert len(found) == 6
    assert found[-1] == ("remove", "base.db#loose/*", "19999 more rows", "lost")


async def test_a_full_text_index_is_told_by_its_rows_and_not_by_its_pages(
    watcher: SqliteWatcher, base: sqlite3.Connection
) -> None:
    base.execute("CREATE VIRTUAL TABLE texts USING fts5(body)")
    base.executemany("INSERT INTO texts VALUES (?)", [(f"word {n}",) for n in range(50)])

    assert await changes(watcher, base, "INSERT INTO texts(texts) VALUES ('optimize')") == []
    assert await changes(watcher, base, "INSERT INTO texts VALUES ('new')") == [
        ("insert", "base.db#texts/51", '{"body": "new"}', "none")
    ]


async def test_a_virtual_table_of_a_missing_module_is_told_by_the_tables_below_it(
    watcher: SqliteWatcher, base: sqlite3.Connection
) -> None:
    base.executescript(
        "PRAGMA writable_schema = ON;"
        "INSERT INTO sqlite_schema VALUES ('table', 'vec', 'vec', 0,"
        " 'CREATE VIRTUAL TABLE vec USING vec0(a)');"
        "PRAGMA writable_schema = RESET;"
        "CREATE TABLE vec_rows (id INTEGER PRIMARY KEY, a)"
    )

    assert await changes(watcher, base, "INSERT INTO vec_rows VALUES (1, 'x')") == [
        ("insert", "base.db#vec_rows/1", '{"id": 1, "a": "x"}', "none")
    ]


async def test_a_new_file_and_a_file_that_went_are_told_by_their_rows(
    watcher: SqliteWatcher, tmp_path: Path
) -> None:
    (tmp_path / "world").mkdir()
    await watcher.begin()
    with closing(sqlite3.connect(tmp_path / "world" / "new")) as db:
        db.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    came = await watcher.end(1)
    (tmp_path / "world" / "new").unlink()
    went = await watcher.end(2)

    assert [(one.kind, one.target) for one in came] == [
        (Kind.SCHEMA, "/w/new#t"),
        (Kind.INSERT, "/w/new#t/1"),
    ]
    assert [(one.kind, one.detail, one.loss) for one in went] == [
        (Kind.SCHEMA, "table dropped with 1 rows", Loss.LOST)
    ]


async def test_a_file_that_says_it_is_sqlite_and_is_not_ends_nothing(
    watcher: SqliteWatcher, base: sqlite3.Connection, tmp_path: Path
) -> None:
    await watcher.begin()
    (tmp_path / "world" / "fake.db").write_bytes(b"SQLite format 3\0" + os.urandom(5000))
    base.execute("DELETE FROM pairs")
    effects = await watcher.end(1)

    assert [one.kind for one in effects if "fake" in one.target] == [Kind.BLIND]
    assert [one.kind for one in effects if "pairs" in one.target] == [Kind.REMOVE] * 2


Values = st.one_of(
    st.none(),
    st.integers(-9, 9),
    st.sampled_from([1.0, 2.5]),
    st.text("aAé", max_size=2),
    st.binary(max_size=2),
)
Rows = st.dictionaries(st.integers(1, 6), st.tuples(Values, Values), max_size=5)


@given(before=Rows, after=Rows)
@settings(max_examples=examples(40))
async def test_the_difference_of_two_tables_is_exactly_what_was_done(
    before: dict[int, tuple[object, object]], after: dict[int, tuple[object, object]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "w" / "base.db"
        path.parent.mkdir()
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous = OFF")
            db.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, a COLLATE NOCASE, b)")
            fill(db, before)
            watcher = SqliteWatcher([Place("/w", path.parent, Role.FIXTURE)], Path(name) / "c")
            await watcher.begin()
            db.execute("DELETE FROM t")
            fill(db, after)
            effects = await watcher.end(1)

    exact_before, exact_after = exact(before), exact(after)
    assert keys(effects, Kind.REMOVE) == before.keys() - after.keys()
    assert keys(effects, Kind.INSERT) == after.keys() - before.keys()
    both = before.keys() & after.keys()
    assert keys(effects, Kind.UPDATE) == {k for k in both if exact_before[k] != exact_after[k]}


def fill(db: sqlite3.Connection, rows: dict[int, tuple[object, object]]) -> None:
    db.executemany("INSERT INTO t VALUES (?, ?, ?)", [(key, *row) for key, row in rows.items()])


def exact(rows: dict[int, tuple[object, object]]) -> dict[int, list[tuple[str, object]]]:
    return {key: [(type(one).__name__, one) for one in row] for key, row in rows.items()}


def keys(effects: object, kind: Kind) -> set[int]:
    """Keys of the effects of a kind; some of many are only counted, which this must not meet."""
    assert isinstance(effects, tuple)
    found = [one for one in effects if isinstance(one, Effect) and one.kind is kind]
    return {int(one.target.rpartition("/")[2]) for one in found}
