"""Real servers to put a gateway in front of."""

from collections.abc import Generator
from pathlib import Path

import pytest
from tests.warm import Warm, warm

from sayso.connect import CommandTarget


@pytest.fixture(scope="session")
def warm_git() -> Generator[Warm]:
    """mcp-server-git, ready to be started at once."""
    with warm("mcp_server_git.server") as ready:
        yield ready


@pytest.fixture
def git_server(warm_git: Warm, repository: Path) -> CommandTarget:
    """mcp-server-git over that repository."""
    return warm_git.command("git", "-m", "mcp_server_git", "--repository", str(repository))
