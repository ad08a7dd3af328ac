"""What all tests share."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import settings
from tests.databases import place, postgres, store

__all__ = ["place", "postgres", "store"]

# A time limit per example says how busy the machine is, not whether the code is right.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio, the loop that avow is served on."""
    return "asyncio"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit and one staged change."""
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
    (folder / "a.txt").write_text("two\n")
    subprocess.run(["git", "-C", str(folder), "add", "."], check=True)
    return folder
