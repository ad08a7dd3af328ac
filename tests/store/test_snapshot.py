"""A store at one moment: its state, and copies of stores of any version."""

import contextlib
import sqlite3
from pathlib import Path

import pytest
from tests.databases import Place

from sayso.errors import StoreError, UsageError
from sayso.store import (
    VERSION,
    Database,
    RecordRow,
    check_empty,
    copy_store,
    fill_store,
    open_store,
    read_status,
)
from sayso.store.copying import columns_of
from sayso.store.location import driver_of

pytestmark = pytest.mark.anyio


async def test_the_state_of_a_store_is_read(store: Database, place: Place) -> None:
    assert read_status(place.url).oldest is None
    await store.records.append([RecordRow("c", 5.0, "attempt", "{}")])
    status = read_status(place.url)
    assert (status.where, status.version, status.oldest) == (store.where, VERSION, 5.0)
    assert status.rows["records"] == 1
    assert status.rows.keys() == columns_of(VERSION).keys()
    assert status.bytes > 10_000


async def test_a_copy_fills_an_empty_store_of_either_kind(
    store: Database, place: Place, tmp_path: Path
) -> None:
    await store.records.append([RecordRow("c", 5.0, "attempt", "{}")])
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))

    assert copy_store(place.url, tmp_path / "copy.db") == VERSION
    check_empty(f"sqlite:{tmp_path / 'none.db'}")
    fill_store(f"sqlite:{tmp_path / 'new.db'}", tmp_path / "copy.db", progress)
    assert seen == [(1, 1)]
    other = open_store(f"sqlite:{tmp_path / 'new.db'}")
    assert await other.records.newest() == await store.records.newest()
    await other.close()
    with pytest.raises(UsageError, match="not empty"):
        fill_store(place.url, tmp_path / "copy.db")
    with pytest.raises(UsageError, match="not empty"):
        check_empty(place.url)


async def test_a_copy_continues_the_numbers_on_postgresql(
    store: Database, place: Place, tmp_path: Path
) -> None:
    source = open_store(f"sqlite:{tmp_path / 'source.db'}")
    await source.records.append([RecordRow("c", 5.0, "attempt", "{}")])
    copy_store(f"sqlite:{tmp_path / 'source.db'}", tmp_path / "copy.db")
    fill_store(place.url, tmp_path / "copy.db")
    await store.records.append([RecordRow("d", 6.0, "attempt", "{}")])
    assert [row.seq for row in await store.records.newest()] == [2, 1]
    await source.close()


def test_an_older_store_is_copied_as_it_is_and_upgraded_when_it_is_restored(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    script = Path(__file__).with_name("version_1.sql").read_text(encoding="utf-8")
    with contextlib.closing(sqlite3.connect(old)) as db:
        db.executescript(script)
    url = f"sqlite:{old}"
    rows = read_status(url).rows
    assert rows["records"] > 0
    with pytest.raises(UsageError, match="not empty"):
        check_empty(url)
    assert copy_store(url, tmp_path / "copy.db") == read_status(url).version == 1
    fill_store(f"sqlite:{tmp_path / 'new.db'}", tmp_path / "copy.db")
    status = read_status(f"sqlite:{tmp_path / 'new.db'}")
    assert (status.version, status.rows["records"]) == (VERSION, rows["records"])


async def test_a_database_without_tables_or_that_fails_is_refused(
    place: Place, tmp_path: Path
) -> None:
    url = place.url
    if place.server is None:
        (tmp_path / "empty.db").touch()
        url = f"sqlite:{tmp_path / 'empty.db'}"
    with pytest.raises(UsageError, match="no tables yet"):
        read_status(url)
    with pytest.raises(UsageError, match="no tables yet"):
        copy_store(url, tmp_path / "copy.db")
    check_empty(url)
    with pytest.raises(UsageError, match="store not found"):
        read_status(f"sqlite:{tmp_path / 'none.db'}")
    (tmp_path / "bad.db").write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match="not a valid SQLite database"):
        read_status(f"sqlite:{tmp_path / 'bad.db'}")


async def test_what_fails_while_copying_names_its_database(
    store: Database, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = type(driver_of(place.url))
    for error, where in (
        (sqlite3.OperationalError("database or disk is full"), str(tmp_path / "copy.db")),
        (driver.errors[0]("broken"), store.where),
    ):

        def fail(*_: object, error: Exception = error) -> int:
            raise error

        monkeypatch.setattr(driver, "copy_to", fail)
        with pytest.raises(StoreError) as caught:
            copy_store(place.url, tmp_path / "copy.db")
        assert caught.value.where == where
