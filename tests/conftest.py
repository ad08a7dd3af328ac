"""What all tests share."""

import pytest
from tests.databases import place, postgres, store

__all__ = ["place", "postgres", "store"]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio, the loop that avow is served on."""
    return "asyncio"
