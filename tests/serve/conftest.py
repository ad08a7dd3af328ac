"""Servers that are started often."""

from collections.abc import Generator

import pytest
from tests.warm import Warm, warm


@pytest.fixture(scope="session")
def frameworks() -> Generator[Warm]:
    """Python that has imported what servers are made with; sayso each imports itself."""
    with warm("mcp.server.mcpserver", "mcp.server.stdio", "fastmcp") as ready:
        yield ready
