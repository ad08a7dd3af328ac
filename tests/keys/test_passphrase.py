"""Keys under a passphrase: only the passphrase and the same use open them."""

from pathlib import Path

import pytest

from sayso.errors import KeysError, UsageError
from sayso.keys import (
    Keyring,
    key_file,
    load_keys,
    lock_keys,
    passphrase,
    read_passphrase,
    unlock_keys,
    write_keys,
)

KEYS = Keyring.of([b"a" * 32, b"b" * 32])
WORDS = "correct horse battery"


def test_keys_come_back_in_their_order() -> None:
    locked = lock_keys(KEYS, WORDS, bound=b"here")
    assert unlock_keys(locked, WORDS, bound=b"here") == KEYS
    assert not any(line in locked for line in KEYS.lines())


def test_each_value_has_its_own_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passphrase, "_COST", 2)
    assert lock_keys(KEYS, WORDS, bound=b"") != lock_keys(KEYS, WORDS, bound=b"")


def test_wrong_words_and_changes_are_refused_without_a_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passphrase, "_COST", 2)
    locked = lock_keys(KEYS, WORDS, bound=b"here")
    changed = f"{locked[:-1]}{int(locked[-1], 16) ^ 1:x}"
    for text, words, bound in (
        (locked, "wrong horse battery", b"here"),
        (locked, WORDS, b"there"),
        (changed, WORDS, b"here"),
        ("", WORDS, b"here"),
        ("no hex", WORDS, b"here"),
    ):
        with pytest.raises(KeysError, match="passphrase is wrong") as caught:
            unlock_keys(text, words, bound=bound)
        assert words not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_short_passphrase_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 12 characters"):
        lock_keys(KEYS, "short", bound=b"")


def test_a_passphrase_is_the_first_line_of_a_private_file(tmp_path: Path) -> None:
    file = tmp_path / "words"
    file.write_bytes(b"correct horse\r\nmore\n")
    file.chmod(0o600)
    assert read_passphrase(file) == "correct horse"
    file.write_bytes(b"\xff\n")
    with pytest.raises(KeysError, match="not UTF-8"):
        read_passphrase(file)
    file.chmod(0o644)
    with pytest.raises(KeysError, match="other users may read"):
        read_passphrase(file)


def test_the_key_file_is_the_one_that_keys_are_read_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "sayso.db"
    monkeypatch.delenv("SAYSO_KEYS", raising=False)
    monkeypatch.delenv("SAYSO_KEYS_FILE", raising=False)
    assert key_file() is None
    beside = key_file(store)
    assert beside is not None
    write_keys(beside, KEYS.lines())
    assert load_keys(store) == KEYS
    monkeypatch.setenv("SAYSO_KEYS_FILE", str(tmp_path / "other"))
    assert key_file(store) == tmp_path / "other"
    monkeypatch.setenv("SAYSO_KEYS", KEYS.lines()[0])
    assert key_file(store) is None
