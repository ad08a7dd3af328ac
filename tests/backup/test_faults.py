"""Damaged files, wrong keys, full disks and kills leave neither half a file nor half a store."""

import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import anyio
import msgspec
import pytest
from tests.backup.conftest import WORDS, fill, recording
from tests.cli.running import environment
from tests.guard.world import KEYS
from tests.store.writing import write

from sayso.backup import archive, back_up, create, restore, restoring
from sayso.backup.manifest import sign
from sayso.errors import KeysError, SaysoError, UsageError
from sayso.keys import Keyring, passphrase
from sayso.store import check_empty, fill_store, open_store, read_status, snapshot

pytestmark = pytest.mark.anyio


def words() -> str:
    return WORDS


def read(file: Path) -> bytes:
    return file.read_bytes()


def put(file: Path, content: bytes) -> None:
    file.write_bytes(content)


@pytest.fixture
def new(tmp_path: Path) -> str:
    """A store that does not exist yet."""
    return f"sqlite:{tmp_path / 'new' / 'sayso.db'}"


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store and a backup of it with keys, made once."""
    folder = tmp_path_factory.mktemp("backup")

    async def make() -> None:
        store = open_store(f"sqlite:{folder / 'sayso.db'}")
        async with recording(store) as guard:
            await fill(guard, store)
        await store.close()
        await back_up(f"sqlite:{folder / 'sayso.db'}", folder / "b", KEYS, passphrase=WORDS)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passphrase, "_COST", 2)
        anyio.run(make)
    return folder


@pytest.fixture
def url(sample: Path, tmp_path: Path) -> str:
    """A store with data."""
    shutil.copy(sample / "sayso.db", tmp_path)
    return f"sqlite:{tmp_path / 'sayso.db'}"


@pytest.fixture
def made(sample: Path, file: Path) -> Path:
    """A backup of this store."""
    file.parent.mkdir()
    shutil.copy(sample / "b", file)
    return file


def left(new: str) -> list[str]:
    """What is in the folder of a store."""
    folder = Path(new.removeprefix("sqlite:")).parent
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def rewrite(file: Path, change: Callable[[dict[str, bytes]], None], *, is_signed: bool) -> None:
    """Change the parts of a backup; `is_signed` signs the manifest again."""
    with zipfile.ZipFile(file) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    change(parts)
    if is_signed:
        parts[archive.SIGNATURE] = sign(KEYS, parts[archive.MANIFEST])
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in parts.items():
            target.writestr(name, content)


async def test_a_truncated_backup_is_refused_at_every_length(made: Path, new: str) -> None:
    whole = read(made)
    for length in (0, 1, len(whole) // 2, len(whole) - 30, len(whole) - 1):
        put(made, whole[:length])
        with pytest.raises(UsageError, match=r"damaged: .*truncated"):
            await restore(made, new, passphrase=words)
    assert left(new) == []


async def test_a_backup_with_a_changed_byte_is_refused(made: Path, new: str) -> None:
    whole = read(made)
    with zipfile.ZipFile(made) as source:
        starts = {info.filename: info.header_offset for info in source.infolist()}
    places = [starts[archive.STORE] + 500, starts[archive.MANIFEST] + 100]
    places += [starts[archive.SIGNATURE] + 60, starts[archive.MANIFEST] - 20]
    for place in places:
        put(made, whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with pytest.raises(UsageError, match="damaged"):
            await restore(made, new, passphrase=words)
    assert left(new) == []


def edit(field: str, value: object) -> Callable[[dict[str, bytes]], None]:
    def change(parts: dict[str, bytes]) -> None:
        manifest = msgspec.json.decode(parts[archive.MANIFEST])
        parts[archive.MANIFEST] = msgspec.json.encode({**manifest, field: value})

    return change


def drop(name: str) -> Callable[[dict[str, bytes]], None]:
    def change(parts: dict[str, bytes]) -> None:
        del parts[name]

    return change


def swap(content: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda parts: parts.update({archive.STORE: content})


@pytest.mark.parametrize(
    ("change", "is_signed", "what"),
    [
        (edit("created", 1.0), False, "signature does not match"),
        (drop(archive.SIGNATURE), False, "a part is missing"),
        (drop(archive.STORE), True, "a part is missing"),
        (swap(b"another database"), True, "digest of store.db differs"),
        (edit("sha256", "00"), True, "digest of store.db differs"),
        (edit("bytes", 10), True, "digest of store.db differs"),
        (edit("format", 2), True, "a newer sayso wrote this backup"),
        (edit("version", 99), True, "a newer sayso wrote this backup"),
        (edit("rows", None), True, "manifest cannot be read"),
        (edit("keys", ["0123"]), True, "passphrase is wrong, or the encrypted keys"),
    ],
    ids=range(10),
)
async def test_an_altered_or_newer_backup_is_refused(
    made: Path,
    new: str,
    change: Callable[[dict[str, bytes]], None],
    *,
    is_signed: bool,
    what: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "passphrase" in what:
        monkeypatch.delenv("SAYSO_KEYS")
    rewrite(made, change, is_signed=is_signed)
    with pytest.raises(UsageError, match=what):
        await restore(made, new, passphrase=words)
    assert left(new) == []


async def test_a_database_that_is_not_whole_is_refused(made: Path, new: str) -> None:
    content = b"SQLite format 3\0" + b"x" * 5_000
    rewrite(made, swap(content), is_signed=True)
    rewrite(made, edit("bytes", len(content)), is_signed=True)
    rewrite(made, edit("sha256", sha256(content).hexdigest()), is_signed=True)
    with pytest.raises(UsageError, match="database is not whole"):
        await restore(made, new, passphrase=words)
    assert left(new) == []


async def test_the_keys_come_out_only_with_the_passphrase(
    made: Path, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SAYSO_KEYS")
    content = read(made)
    assert not any(line.encode() in content for line in KEYS.lines())
    with pytest.raises(KeysError, match="passphrase is wrong") as caught:
        await restore(made, new, passphrase=lambda: "another passphrase")
    assert "another" not in str(caught.value)
    assert left(new) == []
    done = await restore(made, new, passphrase=words)
    assert done.wrote_keys is not None
    assert done.wrote_keys == Path(f"{new.removeprefix('sqlite:')}.keys")
    assert done.wrote_keys.stat().st_mode & 0o777 == 0o600
    assert KEYS.lines()[0] in done.wrote_keys.read_text()


async def test_other_keys_and_no_keys_are_refused(
    made: Path, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_KEYS", Keyring.of([b"o" * 32]).lines()[0])
    with pytest.raises(KeysError, match="lack the backup's key"):
        await restore(made, new, passphrase=words)
    monkeypatch.delenv("SAYSO_KEYS")
    rewrite(made, edit("locked", None), is_signed=True)
    with pytest.raises(KeysError, match="contains no keys"):
        await restore(made, new, passphrase=words)
    assert left(new) == []
    with pytest.raises(UsageError, match="cannot read the backup"):
        await restore(tmp_path / "none", new, passphrase=words)


async def test_no_file_is_overwritten_and_a_store_must_exist(made: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exists already"):
        await back_up(None, made, KEYS)
    with pytest.raises(UsageError, match="store not found"):
        await back_up(f"sqlite:{tmp_path / 'none.db'}", tmp_path / "b", KEYS)
    with pytest.raises(UsageError, match="cannot write"):
        await back_up(None, made / "b", KEYS)
    (tmp_path / "empty.db").touch()
    with pytest.raises(UsageError, match="no tables yet"):
        await back_up(f"sqlite:{tmp_path / 'empty.db'}", tmp_path / "b", KEYS)
    assert not (tmp_path / "b").exists()


async def test_two_backups_to_one_file_do_not_meet(made: Path) -> None:
    beside = made.with_name("other")
    with (
        archive.work_folder(beside),
        pytest.raises(UsageError, match="another process works on"),
        archive.work_folder(beside),
    ):
        pass
    assert [path.name for path in made.parent.iterdir()] == [made.name]


async def test_a_folder_of_another_user_is_not_used(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path / "b"
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(UsageError, match="belongs to another user"), archive.work_folder(beside):
        put(beside, read(made))
    (tmp_path / ".b.part").rmdir()
    monkeypatch.undo()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".b.part").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="cannot write"), archive.work_folder(beside):
        put(beside, read(made))
    assert not beside.exists()


async def test_a_backup_reaches_a_disk_without_links(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    part = tmp_path / "part"
    put(part, read(made))
    archive.put_in_place(part, tmp_path / "b")
    assert read(tmp_path / "b") == read(made)
    put(part, b"")
    with pytest.raises(UsageError, match="exists already"):
        archive.put_in_place(part, tmp_path / "b")
    with pytest.raises(UsageError, match="cannot write"):
        archive.put_in_place(part, tmp_path / "none" / "b")
    monkeypatch.undo()
    with pytest.raises(UsageError, match="exists already"):
        archive.put_in_place(part, tmp_path / "b")
    assert read(tmp_path / "b") == read(made)


class Stop(BaseException):
    """The end of the process, as far as Python sees it."""


@pytest.mark.parametrize(
    "what", [OSError(28, "No space left on device"), Stop()], ids=["full", "ended"]
)
@pytest.mark.parametrize(
    ("module", "step"),
    [
        (create, "copy_store"),
        (archive, "pack_store"),
        (archive, "unpack_store"),
        (create, "check_copy"),
        (archive, "put_in_place"),
    ],
)
async def test_a_backup_that_fails_leaves_no_file(
    url: str,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    step: str,
    what: BaseException,
) -> None:

    def fail(*_: object, **__: object) -> None:
        raise what

    monkeypatch.setattr(module, step, fail)
    with pytest.raises((Stop, SaysoError)) as caught:
        await back_up(url, file, KEYS)
    assert isinstance(what, Stop) or "No space left" in str(caught.value)
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("module", "step"),
    [(restoring, "fill_store"), (snapshot, "copy_rows"), (restoring, "check_copy")],
)
async def test_a_restore_that_fails_can_be_made_again(
    made: Path, new: str, monkeypatch: pytest.MonkeyPatch, module: object, step: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(module, step, fail)
        with pytest.raises(Stop):
            await restore(made, new, passphrase=words)
    check_empty(new)
    await restore(made, new, passphrase=words)
    assert read_status(new).rows["records"] > 0


async def test_a_full_disk_is_said_when_a_backup_is_unpacked(
    made: Path, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive, "_copy", fail)
    with pytest.raises(UsageError, match="No space left on device"):
        await restore(made, new, passphrase=words)
    assert left(new) == []


async def test_rows_are_written_all_or_not_at_all(
    made: Path, url: str, monkeypatch: pytest.MonkeyPatch, new: str, tmp_path: Path
) -> None:
    monkeypatch.setattr("sayso.store.copying._ROWS", 2)
    snapshot.copy_store(url, tmp_path / "copy.db")

    def progress(done: int, total: int) -> None:
        if done > total // 2:
            raise Stop

    with pytest.raises(Stop):
        fill_store(new, tmp_path / "copy.db", progress)
    assert not any(read_status(new).rows.values())
    await restore(made, new, passphrase=words)


async def test_open_approvals_expire_and_a_store_in_use_is_refused(
    made: Path, new: str, url: str, tmp_path: Path
) -> None:
    await restore(made, new, passphrase=words)
    other = open_store(new)
    (row,) = await other.questions.newest(now=0.0, limit=9)
    assert row.state == "expired"
    empty = f"sqlite:{tmp_path / 'empty.db'}"
    third = open_store(empty)
    await third.records.beat("w", "me", seconds=100.0)
    with pytest.raises(UsageError, match="a running process uses this store"):
        await restore(made, empty, passphrase=words)
    await write(third, "UPDATE writers SET lease = 0")
    await restore(made, empty, passphrase=words)
    await other.close()
    await third.close()
    source = open_store(url)
    (open_row,) = await source.questions.newest(now=0.0, limit=9)
    assert open_row.state == "pending", "the store that was backed up stays as it is"
    await source.close()


async def test_a_log_that_is_not_sound_is_kept_and_reported(url: str, file: Path, new: str) -> None:
    store = open_store(url)
    await write(store, "UPDATE records SET at = at + 1 WHERE seq = 2")
    await store.close()
    done = await back_up(url, file, KEYS)
    assert "record 2" in done.problems[0]
    assert (await restore(file, new, passphrase=words)).problems == done.problems


async def test_a_cancelled_backup_leaves_no_file(url: str, file: Path) -> None:
    with anyio.CancelScope() as scope:

        def progress(_stage: str, _done: int, _total: int) -> None:
            anyio.from_thread.run_sync(scope.cancel)

        await back_up(url, file, KEYS, progress=progress)
    assert scope.cancelled_caught
    assert list(file.parent.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
import anyio
from sayso.backup import archive, back_up, create
from sayso.keys import load_keys
module = {"archive": archive, "create": create}[sys.argv[1]]
setattr(module, sys.argv[2], lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
anyio.run(lambda: back_up(sys.argv[3], Path(sys.argv[4]), load_keys()))
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("module", "step"), [("archive", "unpack_store"), ("archive", "put_in_place")]
)
async def test_what_a_killed_backup_leaves_is_removed_by_the_next(
    made: Path, url: str, module: str, step: str
) -> None:
    file = made.with_name("tuesday.sayso")
    killed = await anyio.to_thread.run_sync(
        lambda: subprocess.run(
            [sys.executable, "-c", KILLED, module, step, url, str(file)],
            env=environment(SAYSO_KEYS=KEYS.lines()[0]),
            timeout=60,
            check=False,
        )
    )
    assert killed.returncode == -signal.SIGKILL
    assert not file.exists()
    folder = file.with_name(f".{file.name}.part")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert any(folder.iterdir())
    await back_up(url, file, KEYS)
    assert file.exists()
    assert not folder.exists()


KILLED_RESTORE = """
import os, signal, sys
from pathlib import Path
import anyio
from sayso.backup import restore
from sayso.store import copying
copying._ROWS = 2
def progress(stage, done, total):
    if stage == "Restoring" and done > total // 2:
        os.kill(os.getpid(), signal.SIGKILL)
anyio.run(lambda: restore(Path(sys.argv[1]), sys.argv[2], passphrase=str, progress=progress))
"""


@pytest.mark.process
async def test_a_killed_restore_leaves_an_empty_store(made: Path, new: str) -> None:
    killed = await anyio.to_thread.run_sync(
        lambda: subprocess.run(
            [sys.executable, "-c", KILLED_RESTORE, str(made), new],
            env=environment(SAYSO_KEYS=KEYS.lines()[0]),
            timeout=60,
            check=False,
        )
    )
    assert killed.returncode == -signal.SIGKILL
    assert not any(read_status(new).rows.values())
    await restore(made, new, passphrase=words)
    assert read_status(new).rows["records"] > 0
    assert left(new) == ["sayso.db"]
