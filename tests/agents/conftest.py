"""Real servers for a client in the same process, over stdio and over HTTP."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from mcp import Client

from sayso.demo.data import Database, open_database
from sayso.demo.server import build_server


@pytest.fixture(params=["legacy", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    """The era of the protocol that the client speaks."""
    return request.param


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The store of the record."""
    return f"sqlite:{tmp_path / 'sayso.db'}"


@pytest.fixture
def database(tmp_path: Path) -> Generator[Database]:
    with open_database(tmp_path / "studio.db") as opened:
        yield opened


@pytest.fixture
async def client(database: Database, era: str) -> AsyncGenerator[Client]:
    """A client of the demo in the same process."""
    async with Client(build_server(database), mode=era) as connected:
        yield connected
