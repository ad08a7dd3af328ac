"""Every earlier version is brought forward with all it holds."""

import json
import sqlite3
from pathlib import Path

import psycopg
import pytest
from tests.postgres import PostgresServer

from sayso.audit import merged, open_audit
from sayso.audit.verifier import verify
from sayso.errors import StoreError
from sayso.keys import Keyring
from sayso.store import ApprovalState, Database, open_store
from sayso.store.migrations import POSTGRES_TYPES, STEPS, VERSION

pytestmark = pytest.mark.anyio

KEYS = Keyring.of([b"k" * 32])
DUMP = Path(__file__).with_name("version_1.sql")


async def check_forwarded(store: Database) -> None:
    rows = await store.records.newest()
    assert [row.seq for row in rows] == [3, 2, 1]
    assert "amy" not in "".join(row.body for row in rows)
    bodies = [json.loads(merged(row).body) for row in rows]
    assert [one["subject"] for one in bodies] == ["amy", "amy", "amy"]
    assert bodies[2]["arguments"] == {"customer_id": 7, "é": "\u0000"}
    assert bodies[0]["name"] == "nothing"
    one = await store.questions.find(1, now=5.0)
    assert one is not None
    assert (one.state, one.used_by) == (ApprovalState.USED, "c1")
    again = await store.questions.open("b2", "{}", now=20.0, expires=30.0)
    assert again.number == 2
    async with open_audit(store, KEYS):
        report = await verify(store.records, KEYS)
    assert (report.unchained, report.problems) == (3, [])
    await store.close()


async def test_a_file_of_version_1_is_brought_forward(tmp_path: Path) -> None:
    path = tmp_path / "sayso.db"
    db = sqlite3.connect(path)
    db.executescript(DUMP.read_text())
    db.close()
    await check_forwarded(open_store(f"sqlite:{path}"))
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
    db.close()


@pytest.mark.process
async def test_a_database_of_version_1_is_brought_forward(postgres: PostgresServer) -> None:
    url = postgres.fresh()
    inserts = [line for line in DUMP.read_text().splitlines() if line.startswith("INSERT")]
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE SCHEMA sayso")
        db.execute("SET search_path TO sayso")
        db.execute("CREATE TABLE version (version BIGINT NOT NULL)")
        db.execute("INSERT INTO version VALUES (1)")
        for statement in [*(str(step).format(**POSTGRES_TYPES) for step in STEPS[0]), *inserts]:
            db.execute(statement.encode())
        for table, column in (("records", "seq"), ("approvals", "number")):
            text = f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), max({column}))"
            db.execute(f"{text} FROM {table}".encode())
    await check_forwarded(open_store(url))


async def test_a_migration_that_fails_leaves_the_old_tables(tmp_path: Path) -> None:
    path = tmp_path / "sayso.db"
    db = sqlite3.connect(path)
    db.executescript(DUMP.read_text())
    db.execute("UPDATE records SET body = 'broken' WHERE seq = 2")
    db.commit()
    with pytest.raises(StoreError, match="not JSON"):
        open_store(f"sqlite:{path}")
    assert db.execute("PRAGMA user_version").fetchone() == (1,)
    assert "payload" not in [row[1] for row in db.execute("PRAGMA table_info(records)")]
    db.close()
