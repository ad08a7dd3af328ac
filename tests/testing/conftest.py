"""A git repository for a real server."""

import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.email", "amy@example.com"],
        ["config", "user.name", "Amy"],
        ["add", "."],
        ["commit", "-q", "-m", "first"],
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    return folder
