"""Ways to a client's file that somebody else could change: nothing is read or written there."""

import json
import os
import socket
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sayso.cli import main
from sayso.clients import swap
from sayso.clients.folder import MAX_FILE_BYTES, Folder, open_folder, open_parent
from sayso.errors import ConfigError

SERVERS = json.dumps({"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}})
OTHER = 1234
is_root = os.geteuid() == 0
as_root = pytest.mark.skipif(not is_root, reason="only root may give files away")


@pytest.fixture
def file(home: Path) -> Path:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(SERVERS)
    return path


def _says(answer: object, *_: object) -> object:
    return answer


def install(file: Path) -> int:
    return main(["install", "cursor", "--yes", "--file", str(file)])


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o702])
@pytest.mark.parametrize("above", [0, 1])
def test_a_folder_that_others_may_write_is_refused_wherever_it_is_on_the_way(
    file: Path, capsys: pytest.CaptureFixture[str], mode: int, above: int
) -> None:
    file.parents[above].chmod(mode)
    assert install(file) == 2
    assert "other users can write to this folder" in capsys.readouterr().err
    assert file.read_text() == SERVERS


def test_a_folder_that_a_group_of_several_may_write_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.parent.chmod(0o775)
    for is_own in (False, True):
        monkeypatch.setattr("sayso.clients.folder._is_own_group", partial(_says, is_own))
        assert install(file) == (0 if is_own else 2)


@as_root
@pytest.mark.parametrize("what", ["folder", "parent"])
def test_a_folder_of_another_user_is_refused(file: Path, what: str) -> None:
    os.chown(file.parent if what == "folder" else file.parent.parent, OTHER, OTHER)
    assert install(file) == 2
    assert file.read_text() == SERVERS


@as_root
def test_a_link_of_another_user_in_a_sticky_folder_is_not_followed(
    file: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = home / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    link = shared / "mcp.json"
    link.symlink_to(file)
    os.lchown(link, OTHER, OTHER)
    assert install(link) == 2
    assert "this link belongs to another user" in capsys.readouterr().err
    os.lchown(link, 0, 0)
    assert install(link) == 0


@as_root
def test_a_file_of_another_user_in_a_sticky_folder_is_refused(home: Path) -> None:
    shared = home / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    path = shared / "mcp.json"
    path.write_text(SERVERS)
    os.chown(path, OTHER, OTHER)
    assert install(path) == 2
    assert path.stat().st_uid == OTHER


def test_a_link_of_ones_own_is_followed_and_stays(file: Path, home: Path) -> None:
    link = home / "work" / "link"
    link.symlink_to("../.cursor")
    assert install(link / "mcp.json") == 0
    assert link.is_symlink()
    assert "sayso" in json.loads(file.read_text())["mcpServers"]


@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_what_is_no_file_is_refused_at_once(home: Path, kind: str) -> None:
    path = home / "x"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            os.chdir(home)
            listener.bind("x")
    else:
        path = Path("/dev/zero")
    assert install(path) == 2


def test_a_file_that_is_too_large_is_not_read(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(MAX_FILE_BYTES + 1)
    for read in (swap.read, swap.look):
        with pytest.raises(ConfigError, match="larger than 16 MiB"):
            read(file)


def swapped(monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]) -> None:
    """Do `work` once, between the moment when the folder was opened and the file's reading."""
    real, done = Folder.open_file, list[int]()

    def open_file(self: Folder, name: str) -> int:
        if not done:
            done.append(1)
            work()
        return real(self, name)

    monkeypatch.setattr(Folder, "open_file", open_file)


def test_a_folder_that_is_replaced_by_a_link_after_it_was_opened_leads_nowhere(
    file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = home / "secret"
    secret.mkdir()
    (secret / "mcp.json").write_text("secret")
    data = file.read_bytes()

    def work() -> None:
        file.parent.rename(home / "moved")
        file.parent.symlink_to(secret)

    swapped(monkeypatch, work)
    swap.replace(file, data, b"new")
    assert (secret / "mcp.json").read_text() == "secret"
    assert (home / "moved" / "mcp.json").read_text() == "new"


def test_a_file_that_is_replaced_by_a_link_after_it_was_found_is_not_followed(
    file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = home / "secret"
    secret.write_text("secret")
    secret.chmod(0o600)

    def work() -> None:
        file.unlink()
        file.symlink_to(secret)

    swapped(monkeypatch, work)
    with pytest.raises(ConfigError, match="replaced by a link"):
        swap.replace(file, b"secret", b"new")
    assert secret.read_text() == "secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_a_file_that_is_replaced_by_another_while_it_is_written_is_left(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = file.read_bytes()
    real = swap._copy_attributes  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001 - the seam

    def dress(number: int, before: int) -> None:
        other = file.with_name("other")
        other.write_bytes(data)
        other.replace(file)
        real(number, before)

    monkeypatch.setattr(swap, "_copy_attributes", dress)
    with pytest.raises(ConfigError, match="file has changed"):
        swap.replace(file, data, b"new")
    assert file.read_bytes() == data
    assert [one.name for one in file.parent.iterdir()] == ["mcp.json"]


def test_links_that_go_round_and_paths_that_lead_nowhere_are_told(home: Path) -> None:
    (home / "a").symlink_to("b")
    (home / "b").symlink_to("a")
    for path in (home / "a", home / "none" / "mcp.json"):
        with pytest.raises(OSError, match=r"."), open_parent(path):
            pass
        with pytest.raises(ConfigError):
            swap.read(path)
    (home / "file").write_text("")
    with pytest.raises(NotADirectoryError), open_folder(home / "file"):
        pass


def test_the_folder_of_our_records_is_not_made_in_a_folder_of_others(
    file: Path, home: Path
) -> None:
    (home / ".config").mkdir()
    (home / ".config").chmod(0o777)
    assert install(file) == 2
    assert file.read_text() == SERVERS
    assert not (home / ".config" / "sayso").exists()


def test_an_entry_that_only_looks_like_sayso_is_not_said_to_be_in_front(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"command": "/tmp/x/sayso", "args": ["gateway", "servers.json", "--stdio"]}
    file.write_text(json.dumps({"mcpServers": {"sayso": entry, "other": entry}}))
    assert main(["discover", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["servers"]
    assert [one["guarded"] for one in listed] == [False, False]
    file.write_text(SERVERS)
    assert install(file) == 0
    written = json.loads(file.read_text())
    capsys.readouterr()
    assert main(["discover", "--json"]) == 0
    assert [one["guarded"] for one in json.loads(capsys.readouterr().out)["servers"]] == [True]
    written["mcpServers"]["sayso"]["command"] = "/tmp/x/sayso"
    file.write_text(json.dumps(written))
    assert main(["discover", "--json"]) == 0
    assert [one["guarded"] for one in json.loads(capsys.readouterr().out)["servers"]] == [False]
