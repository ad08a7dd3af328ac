"""Every earlier version is brought forward with all it holds."""

import json
import sqlite3
from pathlib import Path

import pytest
from tests.databases import Place
from tests.store.older import load_dump

from sayso.audit import merged, open_audit
from sayso.audit.verifier import verify
from sayso.errors import StoreError
from sayso.keys import Keyring
from sayso.store import VERSION, ApprovalState, Database, open_store, read_status

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


async def test_a_store_of_version_1_is_brought_forward(place: Place) -> None:
    load_dump(place, 1)
    await check_forwarded(open_store(place.url))
    assert read_status(place.url).version == VERSION


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
