"""`sayso db backup`, `restore` and `status`, as a person and a program see them."""

import contextlib
import getpass
import io
import sqlite3
from pathlib import Path

import pytest
from tests.cli.running import sayso, write_json

from sayso.cli import main
from sayso.keys import passphrase

WORDS = "correct horse battery"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real cost of a passphrase is tested with the keys."""
    monkeypatch.setattr(passphrase, "_COST", 2)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with an API key, and its key file."""
    url = f"sqlite:{tmp_path / 'sayso.db'}"
    assert sayso("keys", "create", "ci", "--store", url).code == 0
    return url


@pytest.fixture
def words(tmp_path: Path) -> str:
    file = tmp_path / "words"
    file.write_text(f"{WORDS}\n")
    file.chmod(0o600)
    return str(file)


def test_the_state_is_shown(store: str) -> None:
    done = sayso("db", "status", "--store", store)
    assert "oldest record: none" in done.out
    assert "api_keys" in done.out
    document = sayso("db", "status", "--store", store, "--json").json
    assert document["rows"]["api_keys"] == 1
    assert document["version"] == document["newest_version"]


def test_an_older_store_is_shown_and_not_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    script = (Path(__file__).parents[1] / "store" / "version_1.sql").read_text(encoding="utf-8")
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(script)
    for _ in range(2):
        done = sayso("db", "status", "--store", f"sqlite:{path}")
        assert "version 1 of" in done.out
        assert "sayso db migrate" in done.err


def test_a_backup_names_the_keys_to_keep_and_is_restored_with_them(
    store: str, tmp_path: Path
) -> None:
    file = tmp_path / "b.sayso"
    done = sayso("db", "backup", str(file), "--store", store)
    assert (done.code, "read again and verified" in done.out) == (0, True)
    assert "sayso.db.keys in another place" in done.err
    new = f"sqlite:{tmp_path / 'new.db'}"
    refused = sayso("db", "restore", str(file), "--store", new, "--json")
    assert (refused.code, refused.error["code"]) == (2, "keys")
    assert str(tmp_path / "new.db.keys") in refused.error["fix"]
    assert not (tmp_path / "new.db").exists()
    (tmp_path / "new.db.keys").write_bytes((tmp_path / "sayso.db.keys").read_bytes())
    (tmp_path / "new.db.keys").chmod(0o600)
    done = sayso("db", "restore", str(file), "--store", new)
    assert "the restored log verifies" in done.out
    assert "sayso keys list" in done.err
    assert sayso("audit", "verify", "--store", new).code == 0
    assert len(sayso("keys", "list", "--store", new, "--json").json["keys"]) == 1
    assert sayso("db", "restore", str(file), "--store", new).code == 2


def test_a_backup_with_keys_needs_only_the_passphrase(
    store: str, words: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "b.sayso")
    with_keys = ("--with-keys", "--passphrase-file", words)
    document = sayso("db", "backup", file, *with_keys, "--store", store, "--json").json
    assert document["has_keys"] is True
    assert document["is_sound"] is True
    assert WORDS not in Path(file).read_bytes().decode("latin-1")
    new = f"sqlite:{tmp_path / 'new.db'}"
    refused = sayso("db", "restore", file, "--store", new)
    assert "--passphrase-file" in refused.err
    done = sayso("db", "restore", file, "--passphrase-file", words, "--store", new)
    assert f"The keys are in {tmp_path / 'new.db.keys'}" in done.err
    other = f"sqlite:{tmp_path / 'other.db'}"
    restored = sayso("db", "restore", file, "--passphrase-file", words, "--store", other, "--json")
    assert restored.json["key_file"] == str(tmp_path / "other.db.keys")
    assert sayso("audit", "verify", "--store", other).code == 0


def test_the_passphrase_is_asked_for_twice(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    answers = iter([WORDS, "another one", WORDS, WORDS, WORDS])
    monkeypatch.setattr("sys.stdin", Terminal())

    def ask(_prompt: str) -> str:
        return next(answers)

    monkeypatch.setattr(getpass, "getpass", ask)
    monkeypatch.delenv("SAYSO_KEYS", raising=False)
    words = ["db", "backup", str(tmp_path / "b"), "--with-keys", "--store", store]
    assert main(words) == 2
    assert "the two passphrases differ" in capsys.readouterr().err
    assert main(words) == 0
    assert "lost without the passphrase" in capsys.readouterr().err
    new = f"sqlite:{tmp_path / 'new.db'}"
    assert main(["db", "restore", str(tmp_path / "b"), "--store", new]) == 0


def test_options_and_files_that_are_wrong_are_refused(
    store: str, words: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "b.sayso")
    alone = sayso("db", "backup", file, "--passphrase-file", words, "--store", store)
    assert (alone.code, "--with-keys" in alone.err) == (2, True)
    other = write_json(tmp_path / "mcp.json", {})
    refused = sayso("db", "restore", other, "--store", f"sqlite:{tmp_path / 'new.db'}", "--json")
    assert refused.code == 2
    assert "damaged" in refused.error["what"]
    assert sayso("db", "backup", other, "--store", store).code == 2
    missing = sayso("db", "backup", file, "--store", f"sqlite:{tmp_path / 'none.db'}")
    assert (missing.code, "store not found" in missing.err) == (2, True)
