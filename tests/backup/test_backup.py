"""Backups are made under load, verified, and restored elsewhere."""

import stat
from pathlib import Path

import anyio
import anyio.from_thread
import pytest
from tests.backup.conftest import fill, recording
from tests.databases import Place
from tests.guard.world import KEYS
from tests.sample_tools import AMY

from sayso.audit import verify
from sayso.backup import back_up, restore
from sayso.errors import UsageError
from sayso.store import Database, copying, open_store, sqlite

pytestmark = pytest.mark.anyio


def no_words() -> str:
    pytest.fail("no passphrase is needed")


def listed(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def target_of(place: Place, tmp_path: Path) -> str:
    """An empty store of the same kind."""
    if place.server is not None:
        return place.server.fresh()
    return f"sqlite:{tmp_path / 'new' / 'sayso.db'}"


async def test_a_backup_is_made_while_a_guard_writes_and_is_restored(
    store: Database,
    place: Place,
    tmp_path: Path,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sqlite, "_COPY_PAGES", 5)
    monkeypatch.setattr(copying, "_ROWS", 2)
    held: list[int] = []
    async with recording(store) as guard:
        await fill(guard, store)
        before = await store.records.count()

        async def call_while_copying() -> None:
            for number in range(20):
                await guard.call(AMY, "read", {"n": number})
            held.append(await store.records.count())

        def progress(stage: str, done: int, total: int) -> None:
            if stage == "Copying" and not held and done < total:
                anyio.from_thread.run(call_while_copying)

        done = await back_up(place.url, file, KEYS, progress=progress)
    assert held[0] >= before + 20, "the guard wrote while the copy was made"
    assert done.problems == []
    assert done.manifest.rows["records"] == before
    assert listed(file.parent) == {file.name: 0o600}

    target = target_of(place, tmp_path)
    restored = await restore(file, target, passphrase=no_words)
    assert (restored.problems, restored.wrote_keys) == ([], None)
    other = open_store(target)
    report = await verify(other.records, KEYS)
    assert (report.records, report.problems) == (before, [])
    assert await other.questions.newest(now=0.0, limit=9) != []
    with pytest.raises(UsageError, match="not empty"):
        await restore(file, target, passphrase=no_words)
    await other.close()
