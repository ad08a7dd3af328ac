"""Real servers to put a gateway in front of."""

import sys
from pathlib import Path

import pytest

from avow.connect import CommandTarget


@pytest.fixture
def git_server(repository: Path) -> CommandTarget:
    """mcp-server-git over that repository."""
    command = ("-m", "mcp_server_git", "--repository", str(repository))
    return CommandTarget("git", sys.executable, command)
