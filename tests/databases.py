"""The same suite for both databases: SQLite in a file, PostgreSQL from a private server."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.postgres import PostgresServer, start_postgres

from avow.store import Store, open_store


@dataclass(frozen=True)
class Place:
    """An empty database and what it is made of."""

    kind: str
    url: str
    server: PostgresServer | None = None


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server for this run; without it the tests that need one are skipped."""
    try:
        server = start_postgres()
    except (ImportError, OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"PostgreSQL cannot be started: {error}")
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An empty database of each kind, taken away afterwards."""
    if request.param == "sqlite":
        yield Place("sqlite", f"sqlite:{tmp_path / 'avow.db'}")
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    place = Place("postgresql", server.fresh(), server)
    yield place
    server.drop(place.url)


@pytest.fixture
async def store(place: Place) -> AsyncIterator[Store]:
    """A store on it."""
    opened = open_store(place.url)
    yield opened
    await opened.close()
