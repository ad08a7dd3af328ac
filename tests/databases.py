"""The same suite for both databases: SQLite in a file, PostgreSQL from a private server."""

import copy
import itertools
import subprocess
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.postgres import PostgresServer, start_postgres

from sayso.store import Database, open_store

KINDS = ("sqlite", "postgresql")


@dataclass(frozen=True)
class Place:
    """An empty database and what it is made of."""

    kind: str
    url: str
    server: PostgresServer | None = None


def with_subjects(store: Database, **subjects: Any) -> Database:
    """The same database with other subjects, for tests of what fails in one of them."""
    copied = copy.copy(store)
    vars(copied).update(subjects)
    return copied


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server for this run; without it the tests that need one are skipped."""
    try:
        server = start_postgres()
    except (ImportError, OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"PostgreSQL cannot be started: {error}")
    yield server
    server.remove()


@contextmanager
def new_places(request: pytest.FixtureRequest, folder: Path) -> Generator[Callable[[], Place]]:
    """Give a function that makes empty databases of the kind in `request.param`.

    They are removed at the end.
    """
    if request.param == "sqlite":
        numbers = itertools.count(1)
        yield lambda: Place("sqlite", f"sqlite:{folder / f'sayso{next(numbers)}.db'}")
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    places: list[Place] = []

    def make() -> Place:
        places.append(Place("postgresql", server.fresh(), server))
        return places[-1]

    try:
        yield make
    finally:
        for place in places:
            server.drop(place.url)


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An empty database of each kind, taken away afterwards."""
    with new_places(request, tmp_path) as make:
        yield make()


@pytest.fixture
async def store(place: Place) -> AsyncIterator[Database]:
    """A store on it."""
    opened = open_store(place.url)
    yield opened
    await opened.close()
