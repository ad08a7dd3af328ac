"""The SQLite store: what it keeps, what it does exactly once, and what it refuses."""

import contextlib
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from avow.errors import StoreError, UsageError
from avow.store import ApprovalState, RecordRow, Store, open_store, store_path
from avow.store.migrations import VERSION
from avow.store.sqlite import open_sqlite

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = open_store(f"sqlite:{tmp_path / 'avow.db'}")
    yield opened
    await opened.close()


async def ask(store: Store, binding: str = "b", now: float = NOW) -> int:
    row = await store.open_approval(binding, "{}", now=now, expires=now + 60)
    return row.number


async def answer(store: Store, number: int, *, is_allowed: bool = True, now: float = NOW) -> bool:
    return await store.answer_approval(
        number, is_allowed=is_allowed, by="console", channel="console", now=now, expires=now + 60
    )


async def test_records_come_back_newest_first(store: Store) -> None:
    await store.append([RecordRow("a", 1.0, "attempt", "{}"), RecordRow("a", 2.0, "outcome", "{}")])
    await store.append([RecordRow("b", 3.0, "attempt", '{"x": "é"}')])
    assert [(row.call, row.event) for row in await store.records()] == [
        ("b", "attempt"),
        ("a", "outcome"),
        ("a", "attempt"),
    ]
    assert [row.seq for row in await store.records(call="a", limit=1)] == [2]


async def test_the_same_question_is_joined_and_another_is_not(store: Store) -> None:
    assert await ask(store) == await ask(store)
    assert await ask(store, "other") != await ask(store)


async def test_64_callers_at_once_open_one_question(tmp_path: Path) -> None:
    stores = [open_store(f"sqlite:{tmp_path / 'avow.db'}") for _ in range(4)]
    numbers: list[int] = []

    async def one(index: int) -> None:
        numbers.append(await ask(stores[index % 4]))

    async with anyio.create_task_group() as group:
        for index in range(64):
            group.start_soon(one, index)
    assert len(numbers) == 64
    assert len(set(numbers)) == 1
    for opened in stores:
        await opened.close()


async def test_of_64_answers_exactly_one_counts(tmp_path: Path) -> None:
    stores = [open_store(f"sqlite:{tmp_path / 'avow.db'}") for _ in range(4)]
    number = await ask(stores[0])
    won: list[bool] = []

    async def one(index: int) -> None:
        won.append(await answer(stores[index % 4], number, is_allowed=index % 2 == 0))

    async with anyio.create_task_group() as group:
        for index in range(64):
            group.start_soon(one, index)
    assert (len(won), sum(won)) == (64, 1)
    for opened in stores:
        await opened.close()


async def test_of_64_calls_exactly_one_uses_an_approval(tmp_path: Path) -> None:
    stores = [open_store(f"sqlite:{tmp_path / 'avow.db'}") for _ in range(4)]
    number = await ask(stores[0])
    assert await answer(stores[0], number)
    used: list[bool] = []

    async def one(index: int) -> None:
        store = stores[index % 4]
        used.append(await store.use_approval(number, binding="b", call=str(index), now=NOW))

    async with anyio.create_task_group() as group:
        for index in range(64):
            group.start_soon(one, index)
    assert (len(used), sum(used)) == (64, 1)
    for opened in stores:
        await opened.close()


async def test_only_what_was_approved_can_be_used(store: Store) -> None:
    number = await ask(store)
    assert not await store.use_approval(number, binding="b", call="c", now=NOW)
    assert await answer(store, number)
    assert not await store.use_approval(number, binding="other", call="c", now=NOW)
    assert not await store.use_approval(number, binding="b", call="c", now=NOW + 61)
    assert await store.use_approval(number, binding="b", call="c", now=NOW)
    row = await store.approval(number, now=NOW)
    assert row is not None
    assert (row.state, row.used_by, row.answered_by) == (ApprovalState.USED, "c", "console")


async def test_a_used_approval_does_not_answer_the_next_question(store: Store) -> None:
    number = await ask(store)
    await answer(store, number)
    await store.use_approval(number, binding="b", call="c", now=NOW)
    assert await ask(store) != number


async def test_a_denial_is_joined_for_a_while_and_then_forgotten(store: Store) -> None:
    number = await ask(store)
    assert await answer(store, number, is_allowed=False)
    assert await ask(store, now=NOW + 59) == number
    assert await ask(store, now=NOW + 61) != number


async def test_what_nobody_answered_in_time_can_no_longer_be_answered(store: Store) -> None:
    number = await ask(store)
    assert not await answer(store, number, now=NOW + 61)
    row = await store.approval(number, now=NOW + 61)
    assert row is not None
    assert row.state is ApprovalState.EXPIRED
    assert await ask(store, now=NOW + 61) != number


async def test_pending_questions_are_listed_first(store: Store) -> None:
    first, second = await ask(store, "1"), await ask(store, "2")
    await answer(store, second)
    rows = await store.approvals(now=NOW)
    assert [(row.number, row.state) for row in rows] == [(first, "pending"), (second, "approved")]
    assert await store.approval(99, now=NOW) is None


async def test_everything_is_there_after_closing_and_opening(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'deep' / 'er' / 'avow.db'}"
    store = open_store(url)
    await store.append([RecordRow("a", 1.0, "attempt", "{}")])
    number = await ask(store)
    await store.close()
    store = open_store(url)
    assert len(await store.records()) == 1
    assert await ask(store) == number
    await store.close()


async def test_a_failed_write_leaves_nothing_behind(store: Store) -> None:
    good, bad = RecordRow("a", 1.0, "attempt", "{}"), RecordRow("a", 1.0, "attempt", None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(StoreError):
        await store.append([good, bad])
    assert await store.records() == []


async def test_only_this_user_may_read_the_file(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'new' / 'avow.db'}")
    await store.append([RecordRow("a", 1.0, "attempt", "{}")])
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "new").iterdir()}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    await store.close()


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE precious (x)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="belongs to another program"):
        open_store(f"sqlite:{path}")
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert [row[0] for row in db.execute("SELECT name FROM sqlite_schema")] == ["precious"]
    assert len(path.read_bytes()) == len(before)


async def test_a_database_of_a_newer_avow_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "avow.db"
    await open_store(f"sqlite:{path}").close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(StoreError, match=f"is of version {VERSION + 1}"):
        open_store(f"sqlite:{path}")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("remember the milk\n" * 100)
    with pytest.raises(StoreError, match="not a sound SQLite database"):
        open_store(f"sqlite:{path}")
    assert path.read_text().startswith("remember")


async def test_a_locked_database_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "avow.db"
    await open_store(f"sqlite:{path}").close()
    monkeypatch.setattr("avow.store.sqlite._BUSY_SECONDS", 0.01)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match=r"the database is locked. Another program holds it"):
            open_store(f"sqlite:{path}")


def test_a_folder_in_the_place_of_the_file_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=str(tmp_path)):
        open_store(f"sqlite:{tmp_path}")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that not even root may write")
def test_a_folder_that_cannot_be_written_is_told_of() -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        open_store("sqlite:/sys/avow.db")


async def test_a_database_that_turns_read_only_is_told_of(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "avow.db")
    store.connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreError, match="cannot be written"):
        await store.append([RecordRow("a", 1.0, "attempt", "{}")])
    await store.close()


async def test_a_full_disk_is_told_of(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "avow.db")
    store.connection.execute("PRAGMA max_page_count = 8")
    with pytest.raises(StoreError, match="the disk is full"):
        await store.append([RecordRow("a", 1.0, "attempt", "x" * 100_000)])
    assert await store.records() == []
    await store.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'avow.db'}")
    await store.close()
    with pytest.raises(StoreError, match="cannot be used"):
        await store.records()


def test_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AVOW_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path in store_path().parents
    assert store_path().name == "avow.db"
    monkeypatch.setenv("AVOW_STORE", "sqlite:there.db")
    assert store_path() == Path("there.db")
    assert store_path("sqlite:here.db") == Path("here.db")
    assert store_path("sqlite:///srv/avow.db") == Path("/srv/avow.db")


@pytest.mark.parametrize("url", ["avow.db", "sqlite:", "sqlite", "mysql://amy:hunter2@db/x"])
def test_a_store_of_another_kind_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(UsageError, match="is not a store") as caught:
        store_path(url)
    assert "hunter2" not in str(caught.value)


def test_the_variable_is_named_when_it_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AVOW_STORE", "nonsense")
    with pytest.raises(UsageError, match="AVOW_STORE"):
        store_path()
