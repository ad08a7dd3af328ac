"""Measurements of a store: commits, the queue, and open questions."""

from pathlib import Path

import pytest
from tests.store.test_group import Driver

from sayso.errors import StoreError
from sayso.store import Commit, Database, RecordRow

pytestmark = pytest.mark.anyio


async def test_each_commit_is_told_with_its_jobs_and_time(store: Database) -> None:
    told: list[Commit] = []
    store.measure(told.append)

    await store.records.append([RecordRow("c", 1.0, "attempt", "{}")])
    await store.records.append([RecordRow("c", 2.0, "outcome", "{}")])
    await store.close()

    assert sum(one.jobs for one in told) == 2
    assert [one.failed for one in told] == [0] * len(told)
    assert all(one.seconds > 0 for one in told)


async def test_what_could_not_be_written_is_told(tmp_path: Path) -> None:
    told: list[Commit] = []
    Driver.failures = ["insert full"]
    store = Database(Driver(tmp_path / "a.db"))
    store.measure(told.append)

    with pytest.raises(StoreError, match="disk is full"):
        await store.records.append([RecordRow("c", 1.0, "attempt", "{}")])
    await store.close()

    assert [(one.jobs, one.failed) for one in told] == [(1, 1)]


async def test_only_open_questions_are_counted(store: Database) -> None:
    assert await store.questions.count_pending(now=1.0) == 0
    for number in range(3):
        await store.questions.open(
            f"b{number}", "{}", now=1.0, expires=10.0 + number, needed=1, idle=5.0
        )

    assert await store.questions.count_pending(now=1.0) == 3
    assert await store.questions.count_pending(now=11.0) == 1
    assert store.queued == 0
