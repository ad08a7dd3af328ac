import os
import socket
from pathlib import Path

import pytest

from sayso.errors import UsageError
from sayso.sandbox.copies import check_free, copy_tree, fixture_path


def test_a_copy_has_modes_times_and_links(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "shut").mkdir(parents=True)
    file = source / "shut" / "run.sh"
    file.write_text("echo")
    file.chmod(0o751)
    (source / "away").symlink_to("/etc/passwd")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    os.utime(source / "shut", (1_100_000_000, 1_100_000_000))
    (source / "shut").chmod(0o500)

    assert copy_tree(source, tmp_path / "copy") == ()

    copied = tmp_path / "copy" / "shut" / "run.sh"
    assert copied.read_text() == "echo"
    assert copied.stat().st_mode & 0o777 == 0o751
    assert copied.stat().st_mtime == 1_000_000_000
    assert copied.parent.stat().st_mtime == 1_100_000_000
    assert copied.parent.stat().st_mode & 0o777 == 0o500
    assert (tmp_path / "copy" / "away").readlink() == Path("/etc/passwd")


def test_what_is_no_file_is_left_out_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    os.mkfifo(source / "pipe")
    monkeypatch.chdir(source)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        notes = copy_tree(source, tmp_path / "copy")

    assert [note.removeprefix(str(source)) for note in notes] == [
        "/pipe: a pipe is not copied",
        "/socket: a socket is not copied",
    ]
    assert list((tmp_path / "copy").iterdir()) == []


def test_a_fixture_that_is_too_large_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "large").write_bytes(b"x" * 2048)

    with pytest.raises(UsageError, match="larger than"):
        copy_tree(source, tmp_path / "copy", most_bytes=2047)


@pytest.mark.parametrize("path", ["/", "/usr/share", "/etc", "/tmp", "/home/user", "/dev/shm"])
def test_a_path_of_the_system_is_no_fixture(path: str) -> None:
    with pytest.raises(UsageError, match="the system's folders"):
        check_free(Path(path))


def test_a_fixture_is_a_folder_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(UsageError, match="not a folder"):
        fixture_path(tmp_path / "file")
    with pytest.raises(UsageError, match="does not exist"):
        fixture_path(tmp_path / "nothing")
    assert fixture_path(tmp_path / "x" / "..") == tmp_path
