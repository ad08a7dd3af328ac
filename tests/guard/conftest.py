"""A world for the guard."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.guard.world import World

from sayso.store import open_store


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    yield World(store)
    await store.close()
