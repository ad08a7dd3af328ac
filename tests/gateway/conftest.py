"""Real servers to put a gateway in front of."""

import subprocess
import sys
from pathlib import Path

import pytest

from avow.connect import CommandTarget


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


@pytest.fixture
def git_server(repository: Path) -> CommandTarget:
    """mcp-server-git over that repository."""
    command = ("-m", "mcp_server_git", "--repository", str(repository))
    return CommandTarget("git", sys.executable, command)
