"""The SQLite store: its file, its rights, and what it refuses."""

import contextlib
import errno
import json
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sayso.errors import StoreError, UsageError
from sayso.store import RecordRow, open_store, store_path
from sayso.store.database import Database
from sayso.store.migrations import VERSION
from sayso.store.session import Session
from sayso.store.sqlite import SqliteDriver

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0


def with_pragma(path: Path, pragma: str) -> Database:
    """A store on sessions with a setting that makes a disk give out."""

    class Driver(SqliteDriver):
        def open(self) -> Session:
            session = super().open()
            session.change(f"PRAGMA {pragma}")
            return session

    return Database(Driver(path))


async def test_everything_is_there_after_closing_and_opening(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'deep' / 'er' / 'sayso.db'}"
    store = open_store(url)
    await store.records.append([RecordRow("a", 1.0, "attempt", "{}")])
    row = await store.questions.open("b", "{}", now=NOW, expires=NOW + 60)
    await store.close()
    store = open_store(url)
    assert len(await store.records.newest()) == 1
    assert await store.questions.find(row.number, now=NOW) == row
    await store.close()


async def test_a_log_that_was_left_over_is_not_written_into_a_new_file(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'old.db'}")
    await store.records.append([RecordRow("a", 1.0, "attempt", "{}")])
    log = (tmp_path / "old.db-wal").read_bytes()
    await store.close()
    (tmp_path / "new.db-wal").write_bytes(log)
    with pytest.raises(StoreError, match="its write-ahead log is there") as caught:
        open_store(f"sqlite:{tmp_path / 'new.db'}")
    assert f"Move {tmp_path / 'new.db-wal'}" in (caught.value.fix or "")
    assert (tmp_path / "new.db-wal").read_bytes() == log
    assert not (tmp_path / "new.db").exists()
    (tmp_path / "new.db-wal").write_bytes(b"")
    await open_store(f"sqlite:{tmp_path / 'new.db'}").close()


MAKERS = """
import os, pathlib, sys
from sayso.store.sqlite import SqliteDriver

for number in range(int(sys.argv[2])):
    path = pathlib.Path(sys.argv[1]) / str(number) / "sayso.db"
    gate, go = os.pipe()
    makers = []
    for _ in range(6):
        if (maker := os.fork()) == 0:
            status = 1
            try:
                os.close(go)
                os.read(gate, 1)
                SqliteDriver(path).open().close()
                status = 0
            finally:
                os._exit(status)
        makers.append(maker)
    os.close(go)
    os.close(gate)
    ends = [os.waitpid(maker, 0)[1] for maker in makers]
    assert not any(ends), (number, ends)
    # SQLite's own -wal and -shm may stay when the last to leave had only looked.
    assert not [one.name for one in path.parent.iterdir() if one.name.startswith(".")]
"""


@pytest.mark.process
def test_many_that_make_the_file_at_once_all_find_it_whole(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", MAKERS, str(tmp_path), "30"], check=True, timeout=100)


def test_a_file_that_another_process_made_first_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sayso.db"

    def come_second(new: Path, place: Path) -> None:
        new.rename(place)
        raise FileExistsError(errno.EEXIST, "it is there")

    monkeypatch.setattr("os.link", come_second)
    SqliteDriver(path).open().close()
    assert [one.name for one in tmp_path.iterdir()] == ["sayso.db"]


def test_without_links_the_file_is_made_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_old: Path, _new: Path) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr("os.link", refuse)
    path = tmp_path / "sayso.db"
    SqliteDriver(path).open().close()
    assert [one.name for one in tmp_path.iterdir()] == ["sayso.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_only_this_user_may_read_the_file(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'new' / 'sayso.db'}")
    await store.records.append([RecordRow("a", 1.0, "attempt", "{}")])
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
    assert path.read_bytes() == before


@pytest.mark.parametrize("pragmas", [["user_version = 99"], ["application_id = 0"]])
async def test_a_log_of_writes_beside_a_file_that_is_not_ours_is_left_alone(
    pragmas: list[str], tmp_path: Path
) -> None:
    path, crashed = tmp_path / "sayso.db", tmp_path / "crashed.db"
    await open_store(f"sqlite:{path}").close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        for pragma in pragmas:
            db.execute(f"PRAGMA {pragma}")
        for end in ("", "-wal"):
            crashed.with_name(f"crashed.db{end}").write_bytes(
                path.with_name(f"sayso.db{end}").read_bytes()
            )
    crashed.chmod(0o644)
    before = crashed.read_bytes()
    with pytest.raises(StoreError, match=r"of version 99|belongs to another"):
        open_store(f"sqlite:{crashed}")
    assert crashed.read_bytes() == before
    assert stat.S_IMODE(crashed.stat().st_mode) == 0o644


async def test_a_file_of_ours_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "sayso.db"
    path.touch(0o644)
    await open_store(f"sqlite:{path}").close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_database_of_a_newer_sayso_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sayso.db"
    await open_store(f"sqlite:{path}").close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(StoreError, match=f"is of version {VERSION + 1}"):
        open_store(f"sqlite:{path}")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("remember the milk\n" * 100)
    with pytest.raises(StoreError, match="not a valid SQLite database"):
        open_store(f"sqlite:{path}")
    assert path.read_text().startswith("remember")


async def test_a_locked_database_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sayso.db"
    monkeypatch.setattr("sayso.store.sqlite._BUSY_SECONDS", 0.01)
    store = open_store(f"sqlite:{path}")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(
            StoreError, match=r"the database is locked. Another program has locked it"
        ):
            await store.records.append([RecordRow("a", 1.0, "attempt", "{}")])
    await store.close()


def test_a_folder_in_the_place_of_the_file_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=str(tmp_path)):
        open_store(f"sqlite:{tmp_path}")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that not even root may write")
def test_a_folder_that_cannot_be_written_is_told_of() -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        open_store("sqlite:/sys/sayso.db")


async def test_a_database_that_turns_read_only_is_told_of(tmp_path: Path) -> None:
    store = with_pragma(tmp_path / "sayso.db", "query_only = ON")
    with pytest.raises(StoreError, match="cannot be written"):
        await store.records.append([RecordRow("a", 1.0, "attempt", "{}")])
    await store.close()


async def test_a_full_disk_is_told_of(tmp_path: Path) -> None:
    store = with_pragma(tmp_path / "sayso.db", "max_page_count = 12")
    with pytest.raises(StoreError, match="the disk is full"):
        await store.records.append([RecordRow("a", 1.0, "attempt", "x" * 100_000)])
    assert await store.records.newest() == []
    await store.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    await store.close()
    with pytest.raises(StoreError, match="cannot be used"):
        await store.records.newest()


def test_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SAYSO_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path in store_path().parents
    assert store_path().name == "sayso.db"
    monkeypatch.setenv("SAYSO_STORE", "sqlite:there.db")
    assert store_path() == Path("there.db")
    assert store_path("sqlite:here.db") == Path("here.db")
    assert store_path("sqlite:///srv/sayso.db") == Path("/srv/sayso.db")


@pytest.mark.parametrize("url", ["sayso.db", "sqlite:", "sqlite", "mysql://amy:hunter2@db/x"])
def test_a_store_of_another_kind_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(UsageError, match="is not a store") as caught:
        store_path(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["sqlite::memory:", "sqlite:~no-such-user-here/sayso.db"])
def test_a_file_that_cannot_be_is_a_usage_error(url: str) -> None:
    with pytest.raises(UsageError, match="--store"):
        store_path(url)


async def test_half_a_character_in_a_question_is_kept(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    body = json.dumps({"subject": "a\ud800"})
    row = await store.questions.open("b", body, now=NOW, expires=NOW + 60)
    assert row.body == body
    await store.close()


def test_the_variable_is_named_when_it_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_STORE", "nonsense")
    with pytest.raises(UsageError, match="SAYSO_STORE"):
        store_path()


@pytest.mark.parametrize("what", ["access", "chmod"])
def test_a_file_of_somebody_else_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Played, since tests may run as one to whom every file is open."""
    path = tmp_path / "sayso.db"
    path.touch(mode=0o644)

    def refuse(*_: object, **__: object) -> bool:
        if what == "chmod":
            raise PermissionError(1, "Operation not permitted", str(path))
        return False

    monkeypatch.setattr("os.access" if what == "access" else "pathlib.Path.chmod", refuse)
    with pytest.raises(StoreError, match="the database cannot be written"):
        open_store(f"sqlite:{path}")
