"""The sources of keys, and the errors about missing or invalid ones."""

import stat
import threading
from pathlib import Path

import pytest

from sayso.errors import KeysError
from sayso.keys import FILE_VARIABLE, VARIABLE, key_id, load_keys, make_key
from sayso.keys.source import keys_path


@pytest.fixture(autouse=True)
def _without_variables(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delenv(FILE_VARIABLE, raising=False)


def test_a_key_is_made_once_beside_the_store_for_this_user_alone(tmp_path: Path) -> None:
    beside = tmp_path / "new" / "sayso.db"
    ring = load_keys(beside, is_made=True)
    assert load_keys(beside).ids == ring.ids
    assert [one.name for one in beside.parent.iterdir()] == ["sayso.db.keys"]
    assert stat.S_IMODE(keys_path(beside).stat().st_mode) == 0o600


def test_of_many_that_make_it_at_once_all_use_the_same_key(tmp_path: Path) -> None:
    found: list[str] = []

    def load() -> None:
        found.append(load_keys(tmp_path / "sayso.db", is_made=True).active)

    threads = [threading.Thread(target=load) for _ in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 16
    assert len(set(found)) == 1


def test_the_environment_comes_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = make_key(), make_key(), make_key()
    path = tmp_path / "keys"
    path.write_text(f"# mine\n{third}\n")
    path.chmod(0o600)
    monkeypatch.setenv(FILE_VARIABLE, str(path))
    (name,) = load_keys(tmp_path / "sayso.db").ids
    monkeypatch.setenv(VARIABLE, f"{first}, {second}")
    ring = load_keys(tmp_path / "sayso.db")
    assert len(ring.ids) == 2
    assert name not in ring.ids


def test_a_key_in_the_alphabet_of_urls_is_the_same_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "_-" + "A" * 41 + "=")
    ring = load_keys()
    monkeypatch.setenv(VARIABLE, "/+" + "A" * 41 + "=")
    assert load_keys().ids == ring.ids == (key_id(b"\xff\xe0" + bytes(30)),)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "contains no key"),
        ("# nothing\n", "contains no key"),
        ("hunter2!", "a key must be base64"),
        ("aGVsbG8=", "a key must have 32 bytes, got 5"),
    ],
)
def test_an_invalid_key_is_reported_without_repeating_it(
    tmp_path: Path, text: str, what: str
) -> None:
    path = keys_path(tmp_path / "sayso.db")
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(KeysError, match=what) as caught:
        load_keys(tmp_path / "sayso.db")
    assert str(path) in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    load_keys(tmp_path / "sayso.db", is_made=True)
    path = keys_path(tmp_path / "sayso.db")
    path.chmod(0o640)
    with pytest.raises(KeysError, match=r"other users may read .* chmod 600"):
        load_keys(tmp_path / "sayso.db")


def test_keys_that_are_missing_are_not_made_by_those_who_only_read(tmp_path: Path) -> None:
    with pytest.raises(KeysError, match="cannot read the key file: No such file"):
        load_keys(tmp_path / "sayso.db")
    with pytest.raises(KeysError, match="Several machines share this store"):
        load_keys()


def test_a_file_that_is_no_text_and_a_folder_are_told_of(tmp_path: Path) -> None:
    path = keys_path(tmp_path / "sayso.db")
    path.write_bytes(b"\xff\xfe\x00")
    path.chmod(0o600)
    with pytest.raises(KeysError, match="not a key file"):
        load_keys(tmp_path / "sayso.db")
    path.unlink()
    path.mkdir()
    with pytest.raises(KeysError, match="Is a directory"):
        load_keys(tmp_path / "sayso.db")


def test_a_folder_that_cannot_be_written_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KeysError, match="cannot make the key file"):
        load_keys(tmp_path / "file" / "sayso.db", is_made=True)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(KeysError, match="No space left on device"):
        load_keys(tmp_path / "sayso.db", is_made=True)
