import ctypes
import os
import shutil
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sayso.verify.observe.hook import HookWatcher, read_event


async def see(act: Callable[[], object]) -> list[tuple[str, str]]:
    watcher = HookWatcher()
    await watcher.begin()
    try:
        act()
    except OSError:
        pass
    finally:
        found = list(await watcher.end(3))
    assert {one.call for one in found} <= {3}
    return [(str(one.kind), one.target) for one in found]


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda: Path("old").read_text(encoding="utf-8"), []),
        (lambda: Path("new").write_text("x", encoding="utf-8"), [("write", "new")]),
        (lambda: os.open("old", os.O_RDWR | os.O_TRUNC), [("write", "old")]),
        (lambda: Path("old").unlink(), [("delete", "old")]),
        (lambda: Path("none").unlink(missing_ok=True), []),
        (lambda: Path("old").rename("two"), [("rename", "old"), ("rename", "two")]),
        (lambda: Path("d").mkdir(), [("create", "d")]),
        (lambda: Path().mkdir(exist_ok=True), []),
        (lambda: Path("old").chmod(0o600), [("metadata", "old")]),
        (lambda: os.utime("old", (1, 1)), [("metadata", "old")]),
        (lambda: os.truncate("old", 0), [("write", "old")]),
        (lambda: Path("two").symlink_to("old"), [("create", "two")]),
        (lambda: os.link("old", "two"), [("create", "two")]),
        (lambda: sqlite3.connect(":memory:").close(), []),
        (lambda: Path("/dev/null").write_text("x", encoding="utf-8"), []),
    ],
)
async def test_what_python_code_does_to_files_is_seen(
    act: Callable[[], object],
    expected: list[tuple[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").write_text("before", encoding="utf-8")
    assert await see(act) == [(kind, str(tmp_path / target)) for kind, target in expected]


async def test_a_whole_folder_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    found = await see(lambda: shutil.rmtree(tmp_path / "a"))
    assert ("delete", str(tmp_path / "a")) in found
    assert ("delete", str(tmp_path / "a/b")) in found


async def test_what_reaches_out_is_seen(tmp_path: Path) -> None:
    with socket.socket() as one:
        assert await see(lambda: one.connect_ex(("127.0.0.1", 9))) == [("connect", "127.0.0.1:9")]
    with socket.socket(type=socket.SOCK_DGRAM) as one:
        assert await see(lambda: one.sendto(b"x", ("127.0.0.1", 9))) == [("send", "127.0.0.1:9")]
    with socket.socket(socket.AF_UNIX) as one:
        path = str(tmp_path / "s")
        assert await see(lambda: one.connect_ex(path)) == [("connect", f"unix:{path}")]
    assert await see(lambda: socket.getaddrinfo("127.0.0.1", 80)) == []
    (lookup,) = read_event("socket.getaddrinfo", ("a.example", 80, 0, 0, 0))
    assert (lookup.kind, lookup.target) == ("lookup", "a.example")


@pytest.mark.process
async def test_other_programs_are_seen_and_installs_by_their_words() -> None:
    found = await see(lambda: subprocess.run(["true", "a b"], check=True))
    assert ("execute", "true 'a b'") in found
    (one,) = read_event("os.system", (b"npm install x",))
    assert one.kind == "install"


async def test_what_the_hook_cannot_look_into_is_told(tmp_path: Path) -> None:
    assert ("blind", f"SQLite {tmp_path / 'a'}") in await see(
        lambda: sqlite3.connect(tmp_path / "a").close()
    )
    assert [kind for kind, _ in await see(lambda: ctypes.CDLL(None))] == ["blind"]


async def test_other_threads_are_seen_and_nothing_after_the_end(tmp_path: Path) -> None:
    watcher = HookWatcher()
    await watcher.begin()
    late = threading.Thread(target=(tmp_path / "a").mkdir)
    late.start()
    late.join()
    found = list(await watcher.end(1))
    (tmp_path / "b").mkdir()
    assert [one.target for one in found] == [str(tmp_path / "a")]
    assert list(await watcher.end(2)) == []


async def test_an_event_in_a_form_that_nobody_knows_is_passed_over() -> None:
    assert read_event("os.rename", (1,)) == ()
    assert read_event("socket.connect", (None, object())) == ()
    assert read_event("nothing", ()) == ()
    assert "partial" in HookWatcher().layer.detail
