import subprocess
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.postgres import PostgresServer, start_postgres

from sayso.trace.effect import Effect, Kind
from sayso.verify.observe.postgres import PostgresWatcher, open_postgres

psycopg = pytest.importorskip("psycopg", reason="the extra postgres is not installed")

TABLES = """
    CREATE TABLE notes (id serial PRIMARY KEY, title text, body text, n int, m int);
    INSERT INTO notes (title, body) VALUES ('a', 'one'), ('b', repeat('long', 5000));
    CREATE TABLE loose (word text);
    INSERT INTO loose VALUES ('p'), ('p'), ('q');
    CREATE UNLOGGED TABLE quick (a int);
    INSERT INTO quick VALUES (1), (2);
    CREATE MATERIALIZED VIEW seen AS SELECT count(*) FROM notes;
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server that logs what decoding needs."""
    try:
        server = start_postgres()
    except (ImportError, OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"PostgreSQL cannot be started: {error}")
    with psycopg.connect(server.url(), autocommit=True) as db:
        db.execute("ALTER SYSTEM SET wal_level = 'logical'")
    server.stop()
    server.start()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def url(server: PostgresServer) -> str:
    url = server.fresh()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(TABLES)
    return url


@pytest.fixture
async def watcher(url: str) -> AsyncIterator[PostgresWatcher]:
    async with open_postgres(url, "db") as watcher:
        yield watcher


async def effects(watcher: PostgresWatcher, url: str, statements: str) -> list[Effect]:
    await watcher.begin()
    with psycopg.connect(url, autocommit=True) as db:
        for statement in statements.split(";"):
            db.execute(statement)
        return list(await watcher.end(3))


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("SELECT * FROM notes", []),
        ("BEGIN; DELETE FROM notes; ROLLBACK", []),
        ("INSERT INTO loose VALUES ('x'); DELETE FROM loose WHERE word = 'x'", []),
        ("CREATE TEMP TABLE t (a int); INSERT INTO t VALUES (1)", []),
        (
            "UPDATE notes SET title = 'A' WHERE id = 1",
            [("update", "db#public.notes/1", "title: a → A", "overwrote")],
        ),
        (
            "UPDATE notes SET title = 'B' WHERE id = 2",
            [("update", "db#public.notes/2", "title: b → B", "overwrote")],
        ),
        (
            "DELETE FROM loose WHERE word = 'q'",
            [("remove", "db#public.loose/", '{"word": "q"}', "lost")],
        ),
        (
            "INSERT INTO notes (id, title) VALUES (9, 'i')",
            [
                (
                    "insert",
                    "db#public.notes/9",
                    '{"id": "9", "title": "i", "body": null, "n": null, "m": null}',
                    "none",
                )
            ],
        ),
        (
            "TRUNCATE loose",
            [("remove", "db#public.loose/*", "all rows at once, by TRUNCATE", "lost")],
        ),
        (
            "SELECT nextval('notes_id_seq')",
            [("update", "db#sequence public.notes_id_seq", "2 → 3", "none")],
        ),
        ("DELETE FROM quick", [("update", "db#public.quick/*", "2 rows → 0 rows", "lost")]),
        (
            "REFRESH MATERIALIZED VIEW seen",
            [("update", "db#public.seen/*", "1 rows → 1 rows", "unknown_format")],
        ),
        ("SELECT lo_from_bytea(77, 'x')", [("insert", "db#large object/77", None, "none")]),
        (
            "ALTER TABLE loose ADD COLUMN more int",
            [("schema", "db#table public.loose", "altered", "none")],
        ),
        (
            "CREATE TABLE fresh (a int); INSERT INTO fresh VALUES (1); UPDATE fresh SET a = 2",
            [
                ("schema", "db#table public.fresh", "created", "none"),
                ("insert", "db#public.fresh/", '{"a": "2"}', "none"),
            ],
        ),
        ("DROP TABLE fresh", [("schema", "db#table public.fresh", "dropped", "lost")]),
        ("CREATE ROLE visitor", [("schema", "db#role visitor", "created", "none")]),
    ],
)
async def test_a_statement_is_told_by_what_it_did(
    watcher: PostgresWatcher,
    url: str,
    statements: str,
    expected: list[tuple[str, str, str | None, str]],
) -> None:
    found = await effects(watcher, url, statements)

    assert [
        (str(e.kind), e.target, None if "large" in e.target else e.detail, str(e.loss))
        for e in found
    ] == expected


async def test_a_lock_that_a_session_holds_is_told(watcher: PostgresWatcher, url: str) -> None:
    (effect,) = await effects(watcher, url, "SELECT pg_advisory_lock(42)")

    assert (effect.kind, effect.detail) == (Kind.INSERT, "ExclusiveLock")
    assert effect.target.startswith("db#advisory lock 0.42 of ")


async def test_what_is_not_seen_is_said(watcher: PostgresWatcher) -> None:
    assert "not seen: NOTIFY" in watcher.layer.detail


async def test_nothing_of_the_watcher_is_left(url: str) -> None:
    async with open_postgres(url):
        pass
    with psycopg.connect(url) as db:
        for table in ("pg_replication_slots", "pg_publication", "pg_event_trigger"):
            row = db.execute(f"TABLE {table}").fetchone()
            assert row is None
