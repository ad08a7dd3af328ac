import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tiers import examples

from sayso.sandbox.mount import Place, Role
from sayso.trace.effect import Effect, Kind
from sayso.verify.observe.files import FilesWatcher


@pytest.fixture
def world(tmp_path: Path) -> Path:
    folder = tmp_path / "world"
    (folder / "notes").mkdir(parents=True)
    (folder / "a.txt").write_text("one\n")
    (folder / "notes" / "b.txt").write_text("two\n")
    return folder


@pytest.fixture
def watcher(world: Path, tmp_path: Path) -> Iterator[FilesWatcher]:
    watcher = FilesWatcher([Place("/world", world, Role.FIXTURE)], tmp_path / "store")
    yield watcher
    watcher.close()


def settle(folder: Path) -> None:
    """Make all look old, as fixtures are when the first call comes."""
    marks = folder.parent / "mark"
    until = time.monotonic() + 5
    newest = max(path.lstat().st_ctime_ns for path in [folder, *folder.rglob("*")])
    while time.monotonic() < until:
        marks.write_text("x")
        if marks.stat().st_ctime_ns > newest + 60_000_000:
            return
    raise AssertionError("the clock of the file system stands still")


def told(effects: object) -> list[tuple[str, str, str]]:
    assert isinstance(effects, list | tuple)
    return [(str(one.kind), one.target, one.detail) for one in effects]


async def test_nothing_is_told_where_nothing_changed(watcher: FilesWatcher, world: Path) -> None:
    await watcher.begin()
    (world / "a.txt").read_text()

    assert await watcher.end(1) == ()


async def test_what_is_written_is_kept_before_and_after(watcher: FilesWatcher, world: Path) -> None:
    await watcher.begin()
    (world / "a.txt").write_text("three\n")
    (effect,) = await watcher.end(7)

    assert (effect.kind, effect.target, effect.call) == (Kind.WRITE, "/world/a.txt", 7)
    assert effect.before
    assert effect.before.path
    assert effect.before.path.read_text() == "one\n"
    assert effect.after
    assert effect.after.path
    assert effect.after.path.read_text() == "three\n"


async def test_bytes_and_times_that_are_put_back_are_seen(
    watcher: FilesWatcher, world: Path
) -> None:
    path = world / "a.txt"
    settle(world)
    await watcher.begin()
    status = path.stat()
    path.write_text("x")
    path.write_text("one\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert told(await watcher.end(1)) == [("write", "/world/a.txt", "written and restored")]


async def test_the_same_bytes_written_again_are_seen(watcher: FilesWatcher, world: Path) -> None:
    settle(world)
    await watcher.begin()
    (world / "a.txt").write_text("one\n")

    assert told(await watcher.end(1)) == [("write", "/world/a.txt", "the same bytes written again")]


async def test_a_write_right_after_the_look_is_seen(watcher: FilesWatcher, world: Path) -> None:
    for number in range(30):
        await watcher.begin()
        (world / "a.txt").write_text(f"{number:03}\n")
        kinds = [one.kind for one in await watcher.end(number)]
        assert kinds == [Kind.WRITE], number


async def test_each_kind_of_change_is_told_as_what_it_is(
    watcher: FilesWatcher, world: Path
) -> None:
    for name in ("gone", "moved", "chmod", "attr", "replaced", "grown"):
        (world / name).write_text(f"{name}\n")
    (world / "link").symlink_to("a.txt")
    settle(world)
    await watcher.begin()
    (world / "gone").unlink()
    (world / "moved").rename(world / "there")
    (world / "chmod").chmod(0o600)
    os.setxattr(world / "attr", "user.seen", b"1")
    (world / "new").write_text("new\n")
    (world / "new").replace(world / "replaced")
    with (world / "grown").open("a") as file:
        file.write("more\n")
    (world / "link").unlink()
    (world / "link").symlink_to("/etc/passwd")
    (world / "folder").mkdir()
    os.mkfifo(world / "pipe")
    (world / "notes").rename(world / "papers")
    # The name of a socket may have 108 bytes, which the path of a test's folder may pass.
    with socket.socket(socket.AF_UNIX) as listener:
        with chdir(world):
            listener.bind("socket")
        effects = await watcher.end(1)

    assert told(effects) == [
        ("metadata", "/world/attr", "attributes user.seen"),
        ("metadata", "/world/chmod", "mode 644 → 600"),
        ("create", "/world/folder", "folder"),
        ("delete", "/world/gone", ""),
        ("append", "/world/grown", "5 bytes"),
        ("write", "/world/link", "now leads to /etc/passwd"),
        ("rename", "/world/moved", "to /world/there"),
        ("rename", "/world/notes", "to /world/papers"),
        ("create", "/world/pipe", "pipe"),
        ("write", "/world/replaced", "9 → 4 bytes"),
        ("create", "/world/socket", "socket"),
    ]


async def test_what_changes_between_calls_is_told_as_of_no_call(
    watcher: FilesWatcher, world: Path
) -> None:
    await watcher.begin()
    await watcher.end(1)
    (world / "late").write_text("x")
    await watcher.begin()
    (world / "now").write_text("x")

    assert [(one.call, one.target) for one in await watcher.end(2)] == [
        (0, "/world/late"),
        (2, "/world/now"),
    ]


async def test_a_link_out_of_the_places_is_not_followed(watcher: FilesWatcher, world: Path) -> None:
    outside = world.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    await watcher.begin()
    (world / "door").symlink_to(outside)

    assert told(await watcher.end(1)) == [("create", "/world/door", f"link to {outside}")]


async def test_a_hole_of_many_gigabytes_is_not_read(watcher: FilesWatcher, world: Path) -> None:
    await watcher.begin()
    with (world / "hole").open("wb") as file:
        file.truncate(1 << 40)
    (effect,) = await watcher.end(1)

    assert (effect.kind, effect.after) == (Kind.CREATE, None)
    assert "too large to be read" in watcher.layer.detail


@pytest.mark.proof
async def test_fifty_thousand_files_are_looked_at_in_a_moment(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    for part in range(250):
        (folder / str(part)).mkdir(parents=True)
        for number in range(200):
            descriptor = os.open(folder / str(part) / str(number), os.O_CREAT | os.O_WRONLY)
            os.close(descriptor)
    watcher = FilesWatcher([Place("/many", folder, Role.FIXTURE)], tmp_path / "store")
    await watcher.begin()
    await watcher.begin()
    (folder / "7" / "7").write_text("x")
    started = time.process_time()
    effects = await watcher.end(1)
    spent = time.process_time() - started
    watcher.close()

    assert told(effects) == [("append", "/many/7/7", "1 bytes")]
    assert spent < 5


Names = st.sampled_from(["a", "b", "c", "d/e", "d/f"])
Texts = st.text("xyz\n", min_size=1, max_size=20)


@given(
    before=st.dictionaries(Names, Texts, max_size=5),
    after=st.dictionaries(Names, Texts, max_size=5),
)
@settings(max_examples=examples(40))
async def test_the_difference_of_two_folders_is_exactly_what_was_done(
    before: dict[str, str], after: dict[str, str]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "world"
        (folder / "d").mkdir(parents=True)
        for path, text in before.items():
            (folder / path).write_text(text)
        watcher = FilesWatcher([Place("/w", folder, Role.FIXTURE)], Path(name) / "store")
        await watcher.begin()
        for path in before.keys() - after.keys():
            (folder / path).unlink()
        for path, text in after.items():
            if before.get(path) != text:
                (folder / path).write_text(text)
        effects = await watcher.end(1)
        watcher.close()
        now = replayed(before, effects)

    assert now == after
    same = {path for path in before.keys() & after.keys() if before[path] == after[path]}
    assert not {f"/w/{path}" for path in same} & {one.target for one in effects}


def replayed(before: dict[str, str], effects: object) -> dict[str, str]:
    """What a folder is after the effects, from their contents alone."""
    now = dict(before)
    assert isinstance(effects, tuple)
    for one in effects:
        assert isinstance(one, Effect)
        path = one.target.removeprefix("/w/")
        if one.kind is Kind.DELETE:
            del now[path]
        elif one.kind is Kind.RENAME:
            now[one.detail.removeprefix("to /w/")] = now.pop(path)
    for one in effects:
        digest_path = one.after and one.after.path
        if one.kind in (Kind.CREATE, Kind.WRITE, Kind.APPEND) and digest_path:
            now[one.target.removeprefix("/w/")] = digest_path.read_text()
    return now
