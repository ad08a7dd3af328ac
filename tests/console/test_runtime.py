"""The folder of the sockets is private, or it is not used."""

from pathlib import Path

import pytest

from sayso.console.entry.runtime import folders, is_private, listen, private_folder, sockets


def test_a_folder_is_made_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_RUNTIME_DIR", str(tmp_path / "run"))

    assert private_folder() == tmp_path / "run"
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700
    assert sockets() == []


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o777, 0o701])
def test_a_folder_that_others_can_open_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(mode)
    (folder / "1.sock").touch()
    monkeypatch.setenv("SAYSO_RUNTIME_DIR", str(folder))

    assert private_folder() is None
    assert sockets() == []


def test_a_link_and_a_folder_that_others_may_replace_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "own")
    monkeypatch.setenv("SAYSO_RUNTIME_DIR", str(tmp_path / "link"))
    assert private_folder() is None

    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open" / "run").mkdir(mode=0o700)
    assert not is_private(tmp_path / "open" / "run")


def test_without_any_variable_the_same_folders_are_looked_into(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SAYSO_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/elsewhere")
    mine = folders()
    monkeypatch.delenv("XDG_RUNTIME_DIR")

    assert mine[0] == Path("/elsewhere/sayso")
    assert set(folders()) < set(mine)


def test_a_path_that_is_too_long_for_a_socket_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 120)
    folder.mkdir(mode=0o700)

    with pytest.raises(OSError, match="too long"):
        listen(folder)
    assert list(folder.iterdir()) == []
