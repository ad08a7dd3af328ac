"""A secret is named where it is needed, and read where it is."""

from pathlib import Path

import pytest

from sayso.errors import KeysError
from sayso.keys import Reference, find_reference


def test_a_secret_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_SECRET", "hunter2")
    found = find_reference("env:CRM_SECRET", Path())
    assert found is not None
    assert found.read() == "hunter2"


def test_a_file_is_taken_from_its_folder_and_read_anew_each_time(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("hunter2\n")
    found = find_reference("file:secret", tmp_path)
    assert found is not None
    assert found.read() == "hunter2"
    file.write_text("hunter3\r\n")
    assert found.read() == "hunter3"


@pytest.mark.parametrize("text", ["hunter2", "env:", "file:", "ENV:X", "vault:x", "file:a\0b"])
def test_what_is_no_reference_is_not_taken_for_one(text: str) -> None:
    assert find_reference(text, Path()) is None


def test_an_error_says_where_and_never_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_SET", raising=False)
    monkeypatch.setenv("EMPTY", "\n")
    monkeypatch.setenv("LINES", "hunter2\nhunter3")
    (tmp_path / "bytes").write_bytes(b"hunter2\xff")
    wrong = [
        (Reference("env", "NOT_SET"), "NOT_SET: the environment variable is not set"),
        (Reference("env", "EMPTY"), "EMPTY: a secret must be one line"),
        (Reference("env", "LINES"), "LINES: a secret must be one line"),
        (Reference("file", str(tmp_path / "gone")), "gone: cannot read the secret"),
        (Reference("file", str(tmp_path / "bytes")), "bytes: a secret must be text"),
    ]
    for reference, told in wrong:
        with pytest.raises(KeysError) as caught:
            reference.read()
        assert told in str(caught.value)
        assert "hunter" not in str(caught.value)
        assert caught.value.__cause__ is None or isinstance(caught.value.__cause__, OSError)
