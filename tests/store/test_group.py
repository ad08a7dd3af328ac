"""Group commit: what shares a transaction, and what becomes of it when something gives out."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import anyio
import pytest

from sayso.audit import Chain
from sayso.errors import StoreError
from sayso.keys import Keyring
from sayso.store import RecordRow
from sayso.store import group as grouped
from sayso.store.database import Database
from sayso.store.group import GroupWriter
from sayso.store.session import Row, Session
from sayso.store.sqlite import SqliteDriver, SqliteSession

pytestmark = pytest.mark.anyio

ROW = RecordRow("a", 1.0, "attempt", "{}")


class Driver(SqliteDriver):
    """SQLite that loses its connection, or clashes, when it is told to."""

    failures: ClassVar[list[str]]

    def open(self) -> Session:
        return Faulty(super().open(), self.failures)  # pyright: ignore[reportReturnType]

    def is_lost(self, error: Exception) -> bool:
        return "lost" in str(error)

    def is_clash(self, error: Exception) -> bool:
        return "clash" in str(error)


class Faulty:
    def __init__(self, session: Session, failures: list[str]) -> None:
        self._session, self._failures = session, failures

    def __getattr__(self, name: str) -> object:
        if self._failures and self._failures[0].startswith(name):
            raise sqlite3.OperationalError(self._failures.pop(0))
        return getattr(self._session, name)


def open_faulty(path: Path, *failures: str) -> Database:
    Driver.failures = []
    store = Database(Driver(path / "sayso.db"))
    Driver.failures.extend(failures)
    return store


async def test_many_share_one_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[int] = []
    commit = GroupWriter._transact  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

    def count(self: object, jobs: list[object]) -> None:
        commits.append(len(jobs))
        commit(self, jobs)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(GroupWriter, "_transact", count)
    store = open_faulty(tmp_path)
    async with anyio.create_task_group() as group:
        for _ in range(500):
            group.start_soon(store.records.append, [ROW])
    assert await store.records.count() == 500
    assert sum(commits) == 500
    assert len(commits) < 50
    await store.close()


async def test_records_that_follow_each_other_are_sealed_and_sent_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    insert = SqliteSession.insert

    def count(self: SqliteSession, sql: str, rows: Sequence[Row]) -> int:
        sent.append(len(rows))
        return insert(self, sql, rows)

    monkeypatch.setattr(SqliteSession, "insert", count)
    store = open_faulty(tmp_path)
    chain = Chain.begin(Keyring.of([b"k" * 32]))
    others = [store.records.append([ROW], seal=one) for one in [chain] * 20 + [None] * 20]
    await asyncio.gather(
        *others, store.records.beat("w", "o", seconds=1), store.records.append([ROW, ROW])
    )
    assert sum(sent) == 42
    assert len(sent) < 10
    assert chain.head is not None
    assert chain.head.index == 20
    await store.close()


async def test_deferred_records_wake_the_writer_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rings: list[int] = []
    ring = GroupWriter._ring  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

    def count(self: GroupWriter) -> None:
        rings.append(1)
        ring(self)

    monkeypatch.setattr(GroupWriter, "_ring", count)
    monkeypatch.setattr(grouped, "_DEFERRED_SECONDS", 60)
    store = open_faulty(tmp_path)
    for _ in range(200):
        await store.records.append([ROW], is_deferred=True)
    assert len(rings) <= 1
    assert await store.records.count() == 200
    await store.close()


async def test_what_fails_does_not_spoil_what_it_shared_a_commit_with(tmp_path: Path) -> None:
    store = open_faulty(tmp_path)
    bad = RecordRow("a", 1.0, "attempt", None)  # pyright: ignore[reportArgumentType]
    results = await asyncio.gather(
        *(store.records.append([bad if at == 7 else ROW]) for at in range(20)),
        return_exceptions=True,
    )
    assert [at for at, one in enumerate(results) if one is not None] == [7]
    assert await store.records.count() == 19
    await store.close()


@pytest.mark.parametrize("failure", ["insert lost", "insert clash", "begin lost", "commit clash"])
async def test_what_can_go_well_the_second_time_is_done_again(tmp_path: Path, failure: str) -> None:
    store = open_faulty(tmp_path, failure)
    await store.records.append([ROW])
    assert await store.records.count() == 1
    await store.close()


@pytest.mark.parametrize("count", [1, 3])
async def test_a_commit_that_was_lost_is_told_to_all_who_shared_it(
    tmp_path: Path, count: int
) -> None:
    store = open_faulty(tmp_path, "commit lost")
    results = await asyncio.gather(
        *(store.records.append([ROW]) for _ in range(count)), return_exceptions=True
    )
    assert all("it is unknown whether it succeeded" in str(one) for one in results[:1])
    await store.records.append([ROW])
    await store.close()


async def test_a_commit_lost_again_and_a_clash_without_end_are_told_of(tmp_path: Path) -> None:
    store = open_faulty(tmp_path, "insert clash", "commit lost")
    with pytest.raises(StoreError, match="it is unknown whether it succeeded"):
        await store.records.append([ROW])
    await store.close()
    store = open_faulty(tmp_path, *["insert clash"] * 10)
    with pytest.raises(StoreError, match="clash"):
        await store.records.append([ROW])
    await store.close()


async def test_a_connection_lost_while_undoing_is_replaced(tmp_path: Path) -> None:
    store = open_faulty(tmp_path, "insert odd", "rollback lost")
    with pytest.raises(StoreError, match="odd"):
        await store.records.append([ROW])
    await store.records.append([ROW])
    assert await store.records.count() == 1
    await store.close()


async def test_a_reading_connection_that_was_lost_is_replaced(tmp_path: Path) -> None:
    store = open_faulty(tmp_path)
    assert await store.records.count() == 0
    for failures, what in (
        (["query lost"], ""),
        (["query lost"] * 2, "lost"),
        (["query odd"], "odd"),
    ):
        Driver.failures.extend(failures)
        if what:
            with pytest.raises(StoreError, match=what):
                await store.records.count()
        else:
            assert await store.records.count() == 0
    assert await store.records.count() == 0
    await store.close()


async def test_a_deferred_record_that_failed_is_told_to_the_next_caller(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_faulty(tmp_path, "insert odd")
    await store.records.append([ROW], is_deferred=True)
    with anyio.fail_after(60):
        while "could not be written" not in caplog.text:
            await anyio.sleep(0.005)
    with pytest.raises(StoreError, match="odd"):
        await store.records.append([ROW], is_deferred=True)
    await store.records.append([ROW])
    odd = RecordRow("a", 1.0, "attempt", "\ud800")
    await store.records.append([odd], is_deferred=True)
    await store.records.newest()
    with pytest.raises(StoreError, match="a deferred record"):
        await store.records.append([ROW])
    await store.close()


async def test_while_writes_fail_a_deferred_record_fails_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_faulty(tmp_path, *["insert full"] * 3)
    await store.records.append([ROW], is_deferred=True)
    with anyio.fail_after(60):
        while "could not be written" not in caplog.text:
            await anyio.sleep(0.005)
    for _ in range(3):
        with pytest.raises(StoreError, match="full"):
            await store.records.append([ROW], is_deferred=True)
        assert await store.records.count() == 0
    await store.records.append([ROW], is_deferred=True)
    assert await store.records.count() == 1
    await store.close()


async def test_too_much_deferred_work_makes_its_callers_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouped, "_MAX_DEFERRED", 3)
    monkeypatch.setattr(grouped, "_MAX_BATCH", 2)
    store = open_faulty(tmp_path)
    for _ in range(20):
        await store.records.append([ROW], is_deferred=True)
    assert await store.records.count() == 20
    await store.records.append([ROW], is_deferred=True)
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="it is closed"):
        await store.records.append([ROW], is_deferred=True)


async def test_a_caller_that_gave_up_disturbs_nobody(tmp_path: Path) -> None:
    store = open_faulty(tmp_path)
    with anyio.move_on_after(0):
        await store.records.append([ROW])
    await store.records.append([ROW])
    assert await store.records.count() in (1, 2)
    await store.close()
